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
import type { Verdict } from "../../test/twins.ts";
import type { QueueRules } from "../index.ts";

const delayMs = fc.constantFrom(0, 0, 0, 1, 500, 1000, 5000);

const ageMs = fc.constantFrom(0, 0, 1, 1000, 14_000, 16_000);

const sendStep: fc.Arbitrary<NamedStep> = fc
  .array(
    fc.record(
      { size: fc.integer({ min: 0, max: 6000 }), delayMs, ageMs },
      { requiredKeys: ["size", "delayMs"] },
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((messages) => [`send ${JSON.stringify(messages)}`, (twins) => twins.send(messages)]);

const pullStep: fc.Arbitrary<NamedStep> = fc
  .record({ max: fc.integer({ min: 1, max: 12 }), forMs: fc.constantFrom(1, 700, 3000) })
  .map(({ max, forMs }) => [`pull ${max} for ${forMs} ms`, (twins) => twins.pull(max, forMs)]);

const verdict = fc.constantFrom<Verdict | "nothing">(
  "ack",
  "retry",
  "retryLater",
  "release",
  "giveUp",
  "nothing",
);

/** Settles a lease, one that has ended long ago too, in stretches of a length each with its own verdict. */
const settleStep: fc.Arbitrary<NamedStep> = fc
  .record({
    which: fc.nat(30),
    length: fc.constantFrom(1, 1, 2, 5, 12),
    verdicts: fc.array(verdict, { minLength: 1, maxLength: 8 }),
  })
  .map(({ which, length, verdicts }) => [
    `settle lease -${which} by ${length}: ${verdicts.join()}`,
    (twins) => {
      const held = fromEnd(twins.leases, which);
      if (held === undefined) return;
      for (let from = 0; from < held.batch.count; from += length) {
        const how = verdicts[(from / length) % verdicts.length];
        if (how !== undefined && how !== "nothing") twins.settle(held, from, from + length, how);
      }
      twins.end(held, verdicts.includes("release") ? "notRun" : verdicts.includes("retry") ? "failed" : "ok");
    },
  ]);

/** Acknowledges a message by a pull of it, one whose lease has ended or that was pulled again since too. */
const lateAckStep: fc.Arbitrary<NamedStep> = fc.nat(30).map((which) => [
  `ack receipt -${which}`,
  (twins) => {
    const held = fromEnd(twins.receipts, which);
    if (held !== undefined) twins.deleteReceived(held);
  },
]);

const removeStep: fc.Arbitrary<NamedStep> = fc
  .nat(30)
  .map((which) => [`delete message ${which}`, (twins) => twins.remove(which)]);

const steps = fc.oneof(
  { weight: 5, arbitrary: sendStep },
  { weight: 4, arbitrary: pullStep },
  { weight: 4, arbitrary: plain("push", (twins) => twins.push()) },
  { weight: 6, arbitrary: settleStep },
  { weight: 3, arbitrary: lateAckStep },
  { weight: 2, arbitrary: removeStep },
  { weight: 2, arbitrary: makeDueStep },
  { weight: 4, arbitrary: timeStep(20_000) },
  { weight: 2, arbitrary: plain("leases expire", (twins) => twins.expireLeases()) },
  { weight: 1, arbitrary: plain("retention", (twins) => twins.expireRetention()) },
  { weight: 1, arbitrary: plain("restart", (twins) => twins.restart()) },
);

const rules: fc.Arbitrary<QueueRules> = fc.record({
  maxBatchSize: fc.integer({ min: 1, max: 8 }),
  batchTimeoutMs: fc.constantFrom(0, 1000, 5000),
  maxRetries: fc.integer({ min: 0, max: 3 }),
  maxConcurrency: fc.constantFrom(null, 1, 3),
  retryDelayMs: fc.constantFrom(0, 1500),
  retentionMs: fc.constantFrom(15_000, 1e9),
  pushLeaseMs: fc.constantFrom(900_000, 2500),
});

it("the engine does what a plain list of messages does in every observable respect, after every command, across restarts", () => {
  checkPrograms(rules, steps, 2000);
});
