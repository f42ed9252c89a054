import fc from "fast-check";
import { it } from "vitest";
import {
  checkPrograms,
  fromEnd,
  makeDueStep,
  type NamedStep,
  plain,
  timeStep,
} from "../../test/model-steps.ts";
import type { MessageToSend } from "../../test/twins.ts";
import type { QueueRules } from "../index.ts";

/* `queue.model.test.ts` for queues with groups and receivers. */

const group = fc.constantFrom("a", "a", "b", "c");

const sendStep = (isFifo: boolean): fc.Arbitrary<NamedStep> =>
  fc
    .array(
      fc.record<MessageToSend>(
        {
          size: fc.integer({ min: 0, max: 2000 }),
          delayMs: fc.constantFrom<MessageToSend["delayMs"]>(0, 0, "queue", "queue", 500, 1000),
          group,
          ageMs: fc.constantFrom(0, 0, 1000, 14_000),
        },
        isFifo ? { requiredKeys: ["size", "delayMs", "group"] } : { requiredKeys: ["size", "delayMs"] },
      ),
      { minLength: 1, maxLength: 10 },
    )
    .map((messages) => [`send ${JSON.stringify(messages)}`, (twins) => twins.send(messages)]);

const receiveStep: fc.Arbitrary<NamedStep> = fc
  .record({ max: fc.integer({ min: 1, max: 10 }), forMs: fc.constantFrom(0, 1, 700, 700, 3000, 43_200_000) })
  .map(({ max, forMs }) => [`receive ${max} for ${forMs} ms`, (twins) => twins.receive(max, forMs)]);

const receiptStep: fc.Arbitrary<NamedStep> = fc
  .record({ which: fc.nat(30), forMs: fc.option(fc.constantFrom(0, 1, 500, 5000, 43_200_000)) })
  .map(({ which, forMs }) => [
    forMs === null ? `delete receipt -${which}` : `let receipt -${which} be invisible for ${forMs} ms`,
    (twins) => {
      const held = fromEnd(twins.receipts, which);
      if (held === undefined) return;
      if (forMs === null) twins.deleteReceived(held);
      else twins.changeVisibility(held, forMs);
    },
  ]);

const pushStep: fc.Arbitrary<NamedStep> = fc
  .record({ ack: fc.boolean(), to: fc.nat(6) })
  .map(({ ack, to }) => [
    `push, and ${ack ? "ack" : "retry later"} the first ${to}`,
    (twins) => {
      twins.push();
      const held = twins.leases.at(-1);
      if (held?.running !== true) return;
      twins.settle(held, 0, to, ack ? "ack" : "retryLater");
      twins.settle(held, to, 100, ack ? "release" : "retry");
      twins.end(held, "ok");
    },
  ]);

const delayStep: fc.Arbitrary<NamedStep> = fc
  .constantFrom(0, 500, 1000, 5000)
  .map((ms) => [`the queue's delay becomes ${ms} ms`, (twins) => twins.changeDelay(ms)]);

const steps = (isFifo: boolean) =>
  fc.oneof(
    { weight: 5, arbitrary: sendStep(isFifo) },
    { weight: 6, arbitrary: receiveStep },
    { weight: 8, arbitrary: receiptStep },
    { weight: 2, arbitrary: pushStep },
    { weight: 3, arbitrary: makeDueStep },
    { weight: 4, arbitrary: timeStep(20_000_000) },
    ...(isFifo ? [{ weight: 2, arbitrary: delayStep }] : []),
    { weight: 3, arbitrary: plain("leases expire", (twins) => twins.expireLeases()) },
    { weight: 1, arbitrary: plain("retention", (twins) => twins.expireRetention()) },
    { weight: 1, arbitrary: plain("delete the third message", (twins) => twins.remove(2)) },
    { weight: 1, arbitrary: plain("purge", (twins) => twins.purge()) },
    { weight: 1, arbitrary: plain("restart", (twins) => twins.restart()) },
  );

const rules = (isFifo: boolean): fc.Arbitrary<QueueRules> =>
  fc.record({
    maxBatchSize: fc.integer({ min: 1, max: 8 }),
    batchTimeoutMs: fc.constantFrom(0, 1000),
    maxRetries: fc.constantFrom(0, 1, 3, Infinity),
    maxConcurrency: fc.constant(null),
    retryDelayMs: fc.constantFrom(0, 1500),
    retentionMs: fc.constantFrom(15_000, 1e9),
    pushLeaseMs: fc.constant(2500),
    fifo: fc.constant(isFifo),
  });

it.each([
  ["on a FIFO queue", true],
  ["on a standard queue some of whose messages have groups", false],
])(
  "the engine does what a plain list of messages does %s, in every observable respect, after every command, across restarts",
  (_what, isFifo) => {
    checkPrograms(rules(isFifo), steps(isFifo), 1000);
  },
);
