import { fuzz, remoteTarget } from "@sluice/fuzz";
import { expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";

const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 2);
/** What a request says is the same to both platforms: `pnpm fuzz` and the tests on Node.js send many more. */
const REQUESTS = process.env.SLUICE_TEST_PLATFORM === "node" ? 600 : 300;

it("whatever is asked of SQS is answered in AWS's form, in time, and nothing is lost", async () => {
  const broker = await startBroker({ SLUICE_ENV: "development" });
  const target = remoteTarget(`${broker.origin}/__sluice/aws`);
  const report = await fuzz(target, { seed: SEED, requests: REQUESTS });
  expect(report.kept).toBeGreaterThan(REQUESTS / 6);
  expect(report.succeeded.length).toBeGreaterThan(REQUESTS / 40);
});
