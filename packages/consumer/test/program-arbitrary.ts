import * as fc from "fast-check";
import { type Program, RETRY_OPTIONS, type RetryOptions, type Step, THROWN, type Thrown } from "./program.ts";

/** A random program and the ids of its batch: 1 to 4 messages, some of which share an id. */
export interface Trial {
  readonly program: Program;
  readonly ids: readonly string[];
}

const options = fc.constantFrom(...(Object.keys(RETRY_OPTIONS) as RetryOptions[]));
const message = fc.nat(3);

const call: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ack" as const), message }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("retry" as const), message, options }) },
  { weight: 1, arbitrary: fc.constant({ do: "ackAll" as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("retryAll" as const), options }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("await" as const), microtasks: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constant({ do: "sleep" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("throw" as const),
      what: fc.constantFrom(...(Object.keys(THROWN) as Thrown[])),
    }),
  },
);

const beside = fc.record({
  do: fc.constantFrom("waitUntil" as const, "float" as const),
  steps: fc.array(call, { maxLength: 4 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: call },
  { weight: 1, arbitrary: beside },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("waitUntil" as const),
      steps: fc.array(fc.oneof(call, beside), { maxLength: 4 }),
    }),
  },
);

/**
 * Trials. Only the first sleep of a program stays, and none in steps that are not waited for: which of two sleepers
 * wakes first, or whether one wakes before the next trial starts, is not the Worker's to say.
 *
 * @param waits whether the runtime waits for `waitUntil`.
 */
export function trial(waits: boolean): fc.Arbitrary<Trial> {
  return fc.record({
    program: fc
      .record({ async: fc.boolean(), steps: fc.array(step, { maxLength: 8 }) })
      .map(({ async, steps }) => ({ async, steps: withOneSleep(steps, waits) })),
    ids: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }).map((ids) => ids.map(messageId)),
  });
}

/** Message id number n. */
function messageId(n: number): string {
  return n.toString(16).padStart(32, "0");
}

function withOneSleep(steps: readonly Step[], waits: boolean): readonly Step[] {
  let slept = false;
  const keep = (inner: readonly Step[], maySleep: boolean): Step[] =>
    inner.flatMap((step): Step[] => {
      if (step.do === "waitUntil") return [{ ...step, steps: keep(step.steps, maySleep && waits) }];
      if (step.do === "float") return [{ ...step, steps: keep(step.steps, false) }];
      if (step.do !== "sleep") return [step];
      if (slept || !maySleep) return [];
      slept = true;
      return [step];
    });
  return keep(steps, true);
}
