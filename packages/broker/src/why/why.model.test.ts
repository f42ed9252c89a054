import type { DeliveryResult, QueueDefinition } from "@sluice/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { consumer, endpoint, pullConsumer } from "../../test/messages.ts";
import { SqsWorld } from "../../test/sqs-world.ts";
import { answered } from "../../test/world-endpoint.ts";
import type { EndpointOutcome } from "../endpoint/endpoint.ts";
import type { QueueCore } from "../queue/queue-core.ts";

/*
 * Random histories of a queue with any kind of consumer. At the end, within a turn and before any delivery, the reason
 * of every message is read: exactly the messages with `dueNow` are leased by the rest of that turn.
 */

/** Delivery whose answer a test holds back, with the function that gives it. */
type Ending =
  | { readonly kind: "worker"; readonly end: (result: Partial<DeliveryResult>) => void }
  | { readonly kind: "endpoint"; readonly end: (outcome: EndpointOutcome) => void };

interface Run {
  readonly world: SqsWorld;
  readonly endings: Ending[];
}

type Step = (run: Run) => unknown;

const step = (name: string, run: Step) => ({ run, [fc.toStringMethod]: () => name });

const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(
        fc.record({
          group: fc.constantFrom("a", "a", "b", ""),
          delaySeconds: fc.constantFrom(0, 0, 1, 5, 8),
        }),
        { minLength: 1, maxLength: 6 },
      )
      .map((messages) =>
        step(`send ${JSON.stringify(messages)}`, ({ world }) =>
          world.enqueue(
            QUEUE,
            ...messages.map(({ group, delaySeconds }) => ({
              body: "m",
              delaySeconds,
              deduplicationId: `${nextId++}`,
              ...(group === "" ? {} : { groupId: group }),
            })),
          ),
        ),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(1, 400, 1_000, 5_000)
      .map((ms) => step(`${ms} ms pass`, ({ world }) => world.pass(ms))),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, 400, 1_000, 5_000).map((ms) =>
      step(`${ms} ms pass without an alarm`, ({ world }) => {
        world.nowMs += ms;
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ max: fc.integer({ min: 1, max: 5 }), forMs: fc.constantFrom(0, 700, 4_000) })
      .map(({ max, forMs }) =>
        step(`receive ${max} for ${forMs} ms`, ({ world }) =>
          world.receive(QUEUE, { max, visibilityTimeoutMs: forMs }),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 5 })
      .map((max) =>
        step(`pull ${max}`, ({ world }) => world.core(QUEUE).pull({ max, visibilityTimeoutMs: 3_000 })),
      ),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({ which: fc.nat(5), how: fc.constantFrom("ack", "retry", "later", "gone") })
      .map(({ which, how }) =>
        step(`a delivery ends: ${how}`, async ({ world, endings }) => {
          const [ending] = endings.splice(which % Math.max(1, endings.length), 1);
          if (ending?.kind === "worker") ending.end(WORKER_ENDS[how] ?? {});
          if (ending?.kind === "endpoint")
            ending.end(how === "gone" ? GONE : answered(how === "ack" ? 200 : 500));
          await world.quiet();
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((running) =>
      step(`running: ${running}`, ({ world }) => {
        world.running = running;
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((deliveryPaused) =>
      step(`paused: ${deliveryPaused}`, ({ world }) => {
        const definition = world.queues[QUEUE] as QueueDefinition; // the world's only queue
        return world.core(QUEUE).reconfigure(
          () => {
            world.queues[QUEUE] = { ...definition, deliveryPaused };
          },
          () => {},
        );
      }),
    ),
  },
  { weight: 1, arbitrary: fc.constant(step("crash", ({ world }) => world.crash(QUEUE))) },
  { weight: 1, arbitrary: fc.constant(step("drain", ({ world }) => world.core(QUEUE).drain())) },
);

const QUEUE = "orders";
const GONE: EndpointOutcome = { kind: "unreachable", reason: "gone" };
const WORKER_ENDS: Readonly<Record<string, Partial<DeliveryResult>>> = {
  ack: {},
  retry: { retryBatch: { retry: true } },
  later: { retryBatch: { retry: true, delaySeconds: 2 } },
  gone: { outcome: "exception" },
};
let nextId = 0;

const limits = fc.record({
  maxBatchSize: fc.integer({ min: 1, max: 5 }),
  maxBatchTimeoutSeconds: fc.constantFrom(0, 0, 2),
  maxConcurrency: fc.constantFrom(1, 2, null),
  maxRetries: fc.constantFrom(0, 1, 3),
});
const DAEMON = {
  visibilityTimeoutSeconds: 3,
  errorVisibilityTimeoutSeconds: null,
  retentionSeconds: 345_600,
};

const consumers: fc.Arbitrary<QueueDefinition["consumer"]> = fc.oneof(
  { weight: 4, arbitrary: limits.map((settings) => consumer(settings)) },
  {
    weight: 2,
    arbitrary: fc
      .integer({ min: 1, max: 3 })
      .map((maxConcurrency) => endpoint({ url: "https://a.example/", maxConcurrency })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ maxConcurrency: fc.integer({ min: 1, max: 3 }), maxRetries: fc.constantFrom(0, 2) })
      .map((settings) =>
        endpoint({
          ...settings,
          url: "https://a.example/",
          format: "sqsd",
          deadLetterQueue: "dead",
          daemon: DAEMON,
        }),
      ),
  },
  { weight: 1, arbitrary: fc.constant(pullConsumer()) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const definitions: fc.Arbitrary<Partial<QueueDefinition>> = fc
  .record({ consumer: consumers, isFifo: fc.boolean(), rate: fc.constantFrom(undefined, undefined, 1, 3) })
  .map(({ consumer: consumes, isFifo, rate }) => ({
    consumer: consumes,
    ...(isFifo ? { fifo: {} } : {}),
    ...(rate === undefined ? {} : { maxReceivesPerSecond: rate }),
  }));

/** Refs of the messages that say so, or are so. */
function refs(core: QueueCore, which: "dueNow" | "leased"): string[] {
  const { messages } = core.messages.look({ max: 100 });
  return messages
    .filter(({ state, why }) => (which === "leased" ? state === "leased" : why.reason === "dueNow"))
    .map(({ ref }) => ref)
    .sort();
}

it("a message that is due now is leased by the next turn, and no other one is", async () => {
  const program = fc.array(steps, { minLength: 1, maxLength: 14, size: "max" });
  let due = 0;
  await fc.assert(
    fc.asyncProperty(
      definitions,
      program,
      fc.constantFrom(0, 1_500, 9_000, 9_000),
      async (definition, all, lateMs) => {
        const world = new SqsWorld({ [QUEUE]: definition, dead: {} });
        const run: Run = { world, endings: [] };
        world.handler = () => new Promise((end) => run.endings.push({ kind: "worker", end }));
        world.answer = () => new Promise((end) => run.endings.push({ kind: "endpoint", end }));
        for (const { run: take } of all) await take(run);
        world.nowMs += lateMs;
        const core = world.core(QUEUE);
        let [dueNow, before, after]: [string[], string[], string[]] = [[], [], []];
        await core.submit(() => {
          core.passTime();
          [dueNow, before] = [refs(core, "dueNow"), refs(core, "leased")];
          core.write(() => {
            after = refs(core, "leased");
          });
        });
        due += dueNow.length;
        expect(after).toEqual([...before, ...dueNow].sort());
      },
    ),
    { numRuns: 1_000 },
  );
  // It says something only if there were some.
  expect(due).toBeGreaterThan(100);
});
