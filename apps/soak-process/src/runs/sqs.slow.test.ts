import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAMAGE_KINDS } from "../damage/kinds.ts";
import { runDamage } from "../damage/run-damage.ts";
import { buildCommand, type Command } from "../sqs/command.ts";
import { DAMAGED_QUEUES, damagedSqs } from "../sqs/damaged-sqs.ts";
import { SqsScenario } from "../sqs/sqs-scenario.ts";
import { runDiskFull, SQS_KILLED_SHARE } from "./disk-full.ts";
import { runFreezes } from "./freezes.ts";
import { runKills } from "./kills.ts";
import { SmallDisk } from "./small-disk.ts";
import { runSqsSwaps } from "./sqs-swaps.ts";
import { canTrace, runSqsSyncs } from "./sqs-syncs.ts";

const canMount = await SmallDisk.canMount();
if (!canMount) console.warn("A disk cannot be mounted here, which needs root: full disks are not tested.");
if (!canTrace()) console.warn("There is no strace here that may trace: syncs are not counted.");

const FILE_REMOVED = 1 + DAMAGE_KINDS.indexOf("file removed");
/** Number of the directory's first case: those of the queues come before. */
const DIRECTORY_CASES_FROM = 1 + DAMAGED_QUEUES.length * DAMAGE_KINDS.length;
/** Command that is held over all tests, so that it is built once. */
let command: Command;
beforeAll(async () => {
  command = await buildCommand();
});
afterAll(() => command.remove());

const GOOD = { lost: 0, violationTexts: [], isDrained: true, lines: [] };

describe("the broker alone, which clients of SQS use", () => {
  it("loses nothing by kill -9: no acknowledged message, deletion, lease, order or deduplication id", async () => {
    const result = await runKills({
      open: () => SqsScenario.open(20_261),
      kills: 2,
      epochMsMax: 500,
      storedMin: 51,
    });
    expect(result).toMatchObject(GOOD);
    expect(result.acknowledged).toBeGreaterThan(100);
    expect(result.unanswered + result.resent).toBeGreaterThan(0);
  });
});

/** Each test has a broker of its own and waits for most of its time, so they share the processor. */
describe.concurrent("the broker alone, which clients of SQS use", { timeout: 300_000 }, () => {
  it("reports a queue's removed files for that queue, and takes queues back when the directory's were", async () => {
    const [ofQueue, ofDirectory] = await runDamage(await damagedSqs(), {
      numbers: [FILE_REMOVED, DIRECTORY_CASES_FROM - 1 + FILE_REMOVED],
      seed: 20_260,
    });
    expect(ofQueue).toMatchObject({ target: { kind: "queue", name: "plain" }, listed: ["rolledBack"] });
    expect(ofQueue?.violations).toEqual([]);
    expect(ofQueue?.missing).toBeGreaterThan(0);
    expect(ofDirectory).toMatchObject({ target: { kind: "directory" }, violations: [], missing: 0 });
    expect(ofDirectory?.owed).toBeGreaterThan(100);
    expect(ofDirectory?.lines.filter((line) => line.includes("takes it back"))).not.toEqual([]);
  });

  it("loses nothing while it stands still, and visibility timeouts end meanwhile", async () => {
    const result = await runFreezes({
      open: () => SqsScenario.open(20_261),
      freezes: 1,
      frozenMsMax: 5_000,
      storedMin: 101,
    });
    expect(result).toMatchObject({ ...GOOD, unanswered: 0 });
    expect(result.acknowledged).toBeGreaterThan(100);
  });

  it("goes on on workerd where it was killed on Node.js, and back", async () => {
    // This seed kills both.
    const result = await runSqsSwaps({ swaps: 2, seed: 20_263, epochMsMax: 1_000, storedMin: 51 });
    expect(result).toMatchObject(GOOD);
    expect(result.acknowledged).toBeGreaterThan(100);
  });

  it.runIf(canMount)("goes on by itself on a disk that was full, and loses nothing", async () => {
    const result = await runDiskFull({
      open: (persistDir) => SqsScenario.open(20_260, persistDir),
      times: 2,
      killedShare: SQS_KILLED_SHARE,
    });
    expect(result).toMatchObject({
      lost: 0,
      violationTexts: [],
      isDrained: true,
      lines: [],
      resumed: 2,
      hasEnded: false,
    });
    expect(result.refused).toBeGreaterThan(0);
    const known = [
      /^503 ServiceUnavailable(Exception)?: Queue storage limit exceeded|^500 InternalFailure/,
      // A busy machine changes a visibility timeout only after its end.
      /^400 InvalidParameterValue.* Reason: (The receipt handle has expired|Message does not exist or is not available)/,
    ];
    expect(result.refusals.filter((text) => !known.some((each) => each.test(text)))).toEqual([]);
  });

  it.runIf(canTrace())("answers after a sync of the queue's log, on Node.js and on workerd", async () => {
    const results = await runSqsSyncs({ messages: 5, seed: 20_260 });
    expect(results.flatMap(({ violationTexts }) => violationTexts)).toEqual([]);
    expect(results.map(({ answers }) => answers)).toEqual([15, 15]);
  });
});
