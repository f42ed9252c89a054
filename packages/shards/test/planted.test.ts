import fc from "fast-check";
import { expect, it } from "vitest";
import { purge } from "../src/calls/all-rules.ts";
import { MapChangedError, type Shards } from "../src/calls/shards.ts";
import { QUEUE_RULES } from "../src/index.ts";
import { pull } from "../src/receive/receive-rules.ts";
import { enqueue } from "../src/send/send-rules.ts";
import type { FakeQueue } from "./fake-queue.ts";
import { fifoHistories, runFifo } from "./fifo-queue.ts";
import { histories, runStandard } from "./standard-queue.ts";

type Rules = typeof QUEUE_RULES;

const CHANCES = { change: 0.15, step: 0.3, failure: 0 };

/** Calls a queue by other rules than those that are right. */
function callersBy(rules: Partial<Rules>) {
  return (world: FakeQueue, random: () => number) => world.callers(random, { ...QUEUE_RULES, ...rules });
}

/** Shards of which a rule sees others than there are. */
function seen(shards: Shards, changes: Partial<Shards>): Shards {
  return new Proxy(shards, {
    get: (target, name) => {
      const value = Reflect.get(changes, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const MISTAKES: readonly [string, Partial<Rules>][] = [
  [
    "a shard that a pull forgets",
    {
      pull: (shards, request) => {
        const { kept } = shards;
        const some = kept.length > 1 ? kept.slice(1) : kept;
        return pull(seen(shards, { kept: some, map: { ...shards.map, kept: some.length } }), request);
      },
    },
  ],
  [
    "a purge by a map that is not the last one",
    {
      purge: async (shards) => {
        try {
          return { purged: (await shards.all((shard) => shards.call(shard, "purge"))).length };
        } catch (error) {
          if (error instanceof MapChangedError) return { purged: 0 };
          throw error;
        }
      },
    },
  ],
  [
    "a purge of all shards but the draining ones",
    {
      purge: (shards) => {
        const all: Shards["all"] = (call) => Promise.all(shards.kept.slice(0, shards.map.open).map(call));
        return purge(seen(shards, { all }));
      },
    },
  ],
  [
    "a token that goes to another shard than its own",
    {
      release: async (shards, receipts) => {
        const { kept } = shards;
        const last = kept.at(-1) ?? 0;
        return shards.call(
          last,
          "release",
          receipts.map((receipt) => receipt.replace(/-\d+$/, "")),
        );
      },
    },
  ],
  ["figures of one shard alone", { metrics: (shards) => shards.call(0, "metrics") }],
  [
    "receipts without the shard",
    {
      receive: async (shards, request) => {
        const reply = await QUEUE_RULES.receive(shards, request);
        if (reply.kind !== "received") return reply;
        return { ...reply, receipts: reply.receipts.map((receipt) => receipt.replace(/-\d+$/, "")) };
      },
    },
  ],
];

it.each(MISTAKES)("the tests of a standard queue find %s", async (_, rules) => {
  const details = await fc.check(
    fc.asyncProperty(histories, (history) => runStandard(history, CHANCES, callersBy(rules))),
    { numRuns: 1_000, endOnFailure: true },
  );
  expect(details.errorInstance).toMatchObject({ name: "AssertionError" });
});

// The objects find it too.
it("the tests of a FIFO queue find a group that goes to its new owner at once", async () => {
  const rules: Partial<Rules> = {
    work: async (shards, asked) => {
      const { before: _, ...map } = shards.map;
      if (asked.enqueue === undefined) return QUEUE_RULES.work(shards, asked);
      return { ok: true, enqueued: await enqueue(seen(shards, { map }), asked.enqueue) };
    },
  };
  const details = await fc.check(
    fc.asyncProperty(fifoHistories, (history) => runFifo(history, CHANCES, callersBy(rules))),
    { numRuns: 1_000, endOnFailure: true },
  );
  expect(String(details.errorInstance)).toMatch(/AssertionError|refuses its own group/);
});
