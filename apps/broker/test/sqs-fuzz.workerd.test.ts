import { fuzz, remoteTarget } from "@sluice/fuzz";
import { expect, it } from "vitest";
import { startBrokerWorker } from "./broker-worker.ts";

const ENTRY = `
import { defineBroker } from "./src/define-broker.ts";
const { QueueBroker, Directory, handler } = defineBroker({ topology: { queues: {} }, consumers: {} });
export { Directory, QueueBroker };
export default handler;
`;
const SEED = Number(process.env.SLUICE_FUZZ_SEED ?? 2);

it("whatever is asked of SQS in workerd is answered in AWS's form, in time, and nothing is lost", async () => {
  const broker = await startBrokerWorker(ENTRY, { SLUICE_ENV: "development" });
  const target = remoteTarget(`${(await broker.ready).origin}/__sluice/aws`);
  const report = await fuzz(target, { seed: SEED, requests: 600 });
  expect(report.kept).toBeGreaterThan(100);
  expect(report.succeeded.length).toBeGreaterThan(15);
});
