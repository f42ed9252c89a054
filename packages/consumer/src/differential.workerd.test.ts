import { type DeliveryReply, type Settlement, settle } from "@sluice/protocol";
import type { WorkerdProcess } from "@sluice/protocol/test/workerd-process";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CONSUMERS, type Outcome, runTrials, startBothDispatches } from "../test/both-dispatches.ts";
import { trial } from "../test/program-arbitrary.ts";

const TRIALS = 300;
const RETRY_DELAY_SECONDS = 11;

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

it.each(CONSUMERS)(
  // conformance: settlement-differential, calls-without-effect
  "reports what workerd's own dispatch reports for random handlers, default export and flags: %s",
  async (consumer) => {
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
  },
);
