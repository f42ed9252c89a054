import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { RETRIES_MAX } from "../src/payment.ts";

it("the last attempt is the one that the queue's settings allow", () => {
  const config = readFileSync(new URL("../wrangler.toml", import.meta.url), "utf8");
  expect(config).toContain(`\nmax_retries = ${RETRIES_MAX}\n`);
});
