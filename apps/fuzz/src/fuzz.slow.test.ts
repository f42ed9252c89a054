import { startBroker } from "@sluice/broker-app/testing/any-broker";
import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { remoteTarget } from "./target.ts";

const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 2);
/** Number of requests: few, since `pnpm fuzz` and the tests on Node.js send many more of the same. */
const REQUESTS = 300;

it("every request to SQS is answered in AWS's form, in time, and no message is lost", async () => {
  const broker = await startBroker({ SLUICE_ENV: "development" });
  const target = remoteTarget(`${broker.origin}/__sluice/aws`);
  const report = await fuzz(target, { seed: SEED, requests: REQUESTS });
  expect(report.kept).toBeGreaterThan(REQUESTS / 6);
  expect(report.succeeded.length).toBeGreaterThan(REQUESTS / 40);
});
