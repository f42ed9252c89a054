import { fuzz, remoteTarget } from "@sluice/fuzz";
import { expect, it } from "vitest";
import { EMPTY_ENTRY, startBrokerWorker } from "./broker-worker.ts";

const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 2);

it("whatever is asked of SQS in workerd is answered in AWS's form, in time, and nothing is lost", async () => {
  const broker = await startBrokerWorker(EMPTY_ENTRY, { SLUICE_ENV: "development" });
  const target = remoteTarget(`${(await broker.ready).origin}/__sluice/aws`);
  const report = await fuzz(target, { seed: SEED, requests: 600 });
  expect(report.kept).toBeGreaterThan(100);
  expect(report.succeeded.length).toBeGreaterThan(15);
});
