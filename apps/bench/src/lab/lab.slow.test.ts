import { afterAll, beforeAll, expect, it } from "vitest";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";
import { type Lab, startLab } from "./lab.ts";

let persistDir: string;
let lab: Lab;

beforeAll(async () => {
  persistDir = await temporaryFolder("test");
  lab = await startLab({ persistDir, consumer: { maxBatchSize: 100, maxBatchTimeoutSeconds: 0 } });
});

afterAll(async () => {
  await lab.stop();
  await removeFolder(persistDir);
});

const handled = (messages: number) =>
  expect.poll(() => lab.tell({ kind: "handled" })).toMatchObject({ acknowledged: messages });

it("counts as the meter does: a request for every call and alarm, rows for every commit, time awake", async () => {
  // The directory tells a new queue what it is: a call that the meter does not see.
  await lab.tell({ kind: "fill", messages: 100, atOnce: 1, delaySeconds: 0 });
  await handled(100);
  const before = await lab.tell({ kind: "bill" });
  await lab.tell({ kind: "fill", messages: 1_000, atOnce: 1, delaySeconds: 0 });
  await handled(1_100);
  const after = await lab.tell({ kind: "bill" });
  expect(after.requests - after.alarms - (before.requests - before.alarms)).toBe(10);
  const [first, last] = [before.usage, after.usage];
  const calls = 10 + 1;
  // A queue that is asked while it is idle reports to the directory, once for each question.
  const reports = 2;
  expect(last.requests - first.requests - (after.alarmsSet - before.alarmsSet)).toBeLessThanOrEqual(
    calls + reports,
  );
  expect(last.requests - first.requests).toBeGreaterThanOrEqual(calls);
  expect(last.rowsWritten - first.rowsWritten).toBeGreaterThanOrEqual(
    10 + after.alarmsSet - before.alarmsSet,
  );
  // The meter looks at the clock before the object does and after it: a busy machine may run others in between.
  expect(last.awakeMs - first.awakeMs).toBeGreaterThan((after.activeMs - before.activeMs) / 2);
  expect(last).toMatchObject({ messages: 1_100, messageChunks: 1_100, deliveries: 1_100 });
});

it("delivers again what its handler is told to retry", async () => {
  await lab.tell({ kind: "behave", behaviour: { kind: "retryFirst", every: 2, delaySeconds: 0 } });
  await lab.tell({ kind: "fill", messages: 200, atOnce: 1, delaySeconds: 0 });
  await handled(200);
  expect(await lab.tell({ kind: "handled" })).toMatchObject({ delivered: 300 });
  await lab.tell({ kind: "behave", behaviour: { kind: "acknowledge" } });
});

it("runs the workload of the comparison", async () => {
  const measured = await lab.run("requests50", 100);
  expect(measured.messages).toBe(100);
  expect(measured.handledPerSecond).toBeGreaterThan(0);
});
