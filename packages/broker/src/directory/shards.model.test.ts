import { SHARDS_MAX } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ShardDirectory } from "../../test/shard-directory.ts";
import { ASK_SHARDS_MS } from "./shard-asks.ts";

const SHARDS = 5;
const QUEUE = "orders";
const FIFO = { deduplicationScope: "messageGroup" } as const;

const shard = fc.nat(SHARDS - 1);
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), shards: fc.integer({ min: 1, max: SHARDS }) }),
  fc.record({ kind: fc.constant("send" as const), shard, back: fc.nat(3) }),
  fc.record({ kind: fc.constant("transfer" as const), shard }),
  fc.record({ kind: fc.constant("arrive" as const) }),
  fc.record({ kind: fc.constant("learn" as const) }),
  fc.record({ kind: fc.constant("empty" as const), shard }),
  fc.record({ kind: fc.constant("away" as const), shard, isAway: fc.boolean() }),
  fc.record({ kind: fc.constant("pass" as const), isInterval: fc.boolean() }),
  fc.record({ kind: fc.constant("crash" as const), after: fc.nat(4) }),
  fc.record({ kind: fc.constant("delete" as const) }),
  fc.record({ kind: fc.constant("slow" as const), rounds: fc.nat(6) }),
  fc.record({ kind: fc.constant("keep" as const), shard, keepsGroups: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const nameOf = (number: number) => (number === 0 ? QUEUE : `${QUEUE}#${number}`);

async function take(directory: ShardDirectory, next: Step, isFifo: boolean): Promise<void> {
  switch (next.kind) {
    case "set":
      if (directory.registry.queue(QUEUE) !== undefined) await directory.set(QUEUE, next.shards);
      else await directory.create(QUEUE, { shards: next.shards, ...(isFifo ? { fifo: FIFO } : {}) });
      break;
    case "send": {
      const { map } = directory.learned.at(-1 - next.back) ?? { map: null };
      // A caller sends to shards that its map has open.
      directory.send(QUEUE, map === null ? 0 : next.shard % map.open, map);
      break;
    }
    case "transfer":
      // Shard 0 of a FIFO queue takes none while it passes on to shards that are too many.
      if (!isFifo) directory.transfer(QUEUE, next.shard);
      break;
    case "arrive":
      directory.arrive(QUEUE);
      break;
    case "learn":
      directory.learn(QUEUE);
      break;
    case "empty":
      directory.object(nameOf(next.shard)).messages = 0;
      break;
    case "keep":
      directory.object(nameOf(next.shard)).keepsGroups = isFifo && next.keepsGroups;
      break;
    case "away":
      if (next.isAway) directory.away.add(nameOf(next.shard));
      else directory.away.delete(nameOf(next.shard));
      break;
    case "slow":
      directory.answersAfter = next.rounds;
      break;
    case "pass":
      directory.registry.time.nowMs += next.isInterval ? ASK_SHARDS_MS : 1;
      await directory.settle();
      break;
    case "crash":
      directory.crashAfter = next.after;
      break;
    case "delete":
      if (directory.registry.queue(QUEUE) !== undefined) await directory.delete(QUEUE);
  }
  if (directory.hasEnded) directory.restart();
}

it("holds what has to hold of maps whatever happens, and comes to the number that is wanted", async () => {
  const seen = { kept: 0, grown: 0, drained: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.boolean(),
      fc.array(step, { maxLength: 40 }),
      async (isFifo, isShrunk, others) => {
        const steps: Step[] = isShrunk ? [...others, { kind: "set", shards: 1 }] : others;
        const directory = new ShardDirectory();
        for (const next of steps) {
          await take(directory, next, isFifo);
          expect(directory.problems).toEqual([]);
          const { open = 1, kept = 1 } = directory.shown(QUEUE) ?? {};
          if (kept > open) seen.kept += 1;
          if (open > 1) seen.grown += 1;
        }
        directory.restart();
        directory.away.clear();
        directory.answersAfter = 0;
        await directory.settle();
        for (let i = 0; i < steps.length; i++) directory.arrive(QUEUE);
        expect(directory.object(QUEUE).passes).toEqual([]);
        for (const object of directory.objects.values())
          Object.assign(object, { messages: 0, keepsGroups: false });
        for (let i = 0; i < 5; i++) {
          directory.registry.time.nowMs += ASK_SHARDS_MS;
          await directory.settle();
        }
        expect(directory.problems).toEqual([]);
        const wanted = directory.registry.queue(QUEUE)?.record.definition.shards;
        expect(directory.rows(QUEUE)).toHaveLength(wanted ?? 0);
        if (wanted === undefined) return;
        const { open, kept, before } = directory.shown(QUEUE) ?? { open: 1, kept: 1 };
        expect({ open, kept, before }).toEqual({ open: wanted, kept: wanted, before: undefined });
        expect(directory.wakeAfterMs).toBeNull();
        if (!steps.some(({ kind }) => kind === "delete"))
          expect(directory.counted(QUEUE)).toBe(directory.taken);
        if (wanted === 1 && directory.shown(QUEUE) !== undefined) seen.drained += 1;
      },
    ),
    { numRuns: 400 },
  );
  // The histories have come to what the model is for.
  expect(Math.min(seen.kept, seen.grown, seen.drained)).toBeGreaterThan(0);
  expect(SHARDS).toBeLessThan(SHARDS_MAX);
});
