import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { WORKER_KEYS } from "./worker-keys.ts";

test("every one is a key of Wrangler's", () => {
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  const schema = JSON.parse(readFileSync(wrangler.replace("package.json", "config-schema.json"), "utf8"));
  const { properties } = schema.definitions.RawConfig;
  expect([...WORKER_KEYS].filter((key) => !(key in properties))).toEqual([]);
});
