import { type DeliveryReply, type Settlement, settle } from "@sluice/protocol";
import type { WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONSUMERS, type Outcome, runTrials, startBothDispatches } from "../test/both-dispatches.ts";
import { messageId, trial } from "../test/program-arbitrary.ts";
import { PROGRAM_TABLE, parseProgram, RETRY_DELAY_SECONDS } from "../test/program-table.ts";

const TRIALS = 300;

/** Everything that must be the same. What is said of an error is ours alone. */
function comparable({ reply, warnings }: Outcome, ids: readonly string[]): unknown {
  const settlements = settlementsOf(reply, ids);
  if (reply === "acknowledged") return { reply, warnings, settlements };
  const { error: _error, stack: _stack, ...reported } = reply;
  return { reported, warnings, settlements };
}

function settlementsOf(reply: DeliveryReply, ids: readonly string[]): Settlement[] {
  return reply === "acknowledged"
    ? ids.map(() => ({ kind: "ack" }))
    : settle(reply, ids, RETRY_DELAY_SECONDS);
}

let workerd: WorkerdProcess;
beforeAll(async () => {
  workerd = await startBothDispatches();
});
afterAll(() => workerd[Symbol.asyncDispose]());

// conformance: settlement-differential, calls-without-effect
describe("reports what workerd's own dispatch reports", () => {
  it.each(CONSUMERS)("for random handlers, default export and flags: %s", async (consumer) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const waits = !consumer.endsWith("NO_WAIT");
    const trials = fc.sample(trial(waits), { seed, numRuns: TRIALS });
    const outcomes = await runTrials(workerd, consumer, trials);
    expect(outcomes).toHaveLength(TRIALS);
    outcomes.forEach(({ native, ours }, i) => {
      const { program, ids } = trials[i] ?? { program: undefined, ids: [] };
      const label = `seed ${seed}, trial ${i}: ${JSON.stringify(program)} on ${ids.map(Number)}`;
      expect(comparable(ours, ids), label).toEqual(comparable(native, ids));
      if (ours.reply !== "acknowledged")
        expect(ours.reply.error === undefined, label).toBe(ours.reply.outcome === "ok");
    });
  });
});

// conformance: settlement-programs
describe.each(CONSUMERS)("settles each program of spec 2.3 as its table says: %s", (consumer) => {
  const ids = [messageId(1), messageId(2)];
  let outcomes: { native: Outcome; ours: Outcome }[];
  beforeAll(async () => {
    const trials = PROGRAM_TABLE.map(([text]) => ({
      program: { async: true, steps: parseProgram(text) },
      ids,
    }));
    outcomes = await runTrials(workerd, consumer, trials);
  });

  it.each(PROGRAM_TABLE.map((row, i) => ({ name: row[0] || "(nothing)", row, i })))("$name", ({ row, i }) => {
    const { native, ours } = outcomes[i] ?? {};
    const [, m1, m2] = row;
    if (native === undefined || ours === undefined) throw new Error("the program was not run");
    expect(settlementsOf(ours.reply, ids)).toEqual([m1, m2]);
    expect(comparable(ours, ids)).toEqual(comparable(native, ids));
  });
});
