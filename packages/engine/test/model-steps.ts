import fc from "fast-check";
import type { QueueRules } from "../src/index.ts";
import { Twins } from "./twins.ts";

/** Step of a random program on the engine and on the most naive queue there is, with the name that it is shown by. */
export type NamedStep = readonly [name: string, run: (twins: Twins) => void];

export const plain = (name: string, run: NamedStep[1]): fc.Arbitrary<NamedStep> =>
  fc.constant<NamedStep>([name, run]);

export const makeDueStep: fc.Arbitrary<NamedStep> = fc
  .nat(30)
  .map((which) => [`make message ${which} due`, (twins) => twins.makeDue(which)]);

/** @param longMs the longest time that passes at once, in ms. */
export const timeStep = (longMs: number): fc.Arbitrary<NamedStep> =>
  fc.constantFrom(1, 300, 1000, 4000, longMs).map((ms) => [
    `${ms} ms pass`,
    (twins) => {
      twins.nowMs += ms;
    },
  ]);

/** The entry of a list that lies `which` entries before its end, round and round. */
export function fromEnd<T>(list: readonly T[], which: number): T | undefined {
  return list[list.length - 1 - (which % Math.max(1, list.length))];
}

/**
 * Checks random programs. After every step everything that can be observed must be the same of both queues, what is
 * stored must be what is in memory, and the engine's invariants must hold.
 */
export function checkPrograms(
  rules: fc.Arbitrary<QueueRules>,
  step: fc.Arbitrary<NamedStep>,
  numRuns: number,
) {
  const programs = fc
    .array(step, { minLength: 1, maxLength: 40, size: "max" })
    // fast-check prints a step that failed by its name.
    .map((program) => program.map(([name, run]) => ({ run, [fc.toStringMethod]: () => name })));
  fc.assert(
    fc.property(rules, programs, (queueRules, program) => {
      const twins = new Twins(queueRules);
      for (const { run } of program) {
        run(twins);
        twins.check();
      }
    }),
    { numRuns: Number(process.env.SLUICE_MODEL_RUNS ?? numRuns) },
  );
}
