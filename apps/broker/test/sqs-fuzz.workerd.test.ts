import { fuzz, remoteTarget } from "@sluice/fuzz";
import { expect, it } from "vitest";
import { startBroker } from "./any-broker.ts";

const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 2);

it("whatever is asked of SQS is answered in AWS's form, in time, and nothing is lost", async () => {
  const broker = await startBroker({ SLUICE_ENV: "development" });
  const target = remoteTarget(`${broker.origin}/__sluice/aws`);
  const report = await fuzz(target, { seed: SEED, requests: 600 });
  expect(report.kept).toBeGreaterThan(100);
  expect(report.succeeded.length).toBeGreaterThan(15);
});
