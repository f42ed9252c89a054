import { randomFrom } from "@sluice/protocol";
import { FAULT_KINDS, type Fault, type FaultKind } from "../api.ts";

/** Messages and deliveries that faults are planned for: of a history with more, the others go well. */
const MESSAGES_MAX = 24;
const ATTEMPTS_MAX = 3;
/** How many deliveries go wrong, of which each history has one. */
const RATES = [0.05, 0.15, 0.4];
/** Latest call at which a handler ends. */
const CALLS_MAX = 32;
/** Seconds of the faults that have some. */
const SECONDS: Readonly<Partial<Record<FaultKind, readonly number[]>>> = {
  reorder: [0, 1, 60],
  lateRetry: [60, 3_600, 43_200],
};

/**
 * Histories of one kind of fault, and those between them, in which handlers end at their first call, second, and so on.
 */
const FIRST = 2 * FAULT_KINDS.length;

/**
 * The faults of the i-th history. The first ones have one kind each, and in every other one of them each message's
 * first handler ends after the next call: most often what is done half is found there. Of the others each has some of
 * the kinds, since what many kinds do together hides what few do.
 */
export function faultsOf(seed: number, i: number): Fault[] {
  if (i < FIRST && i % 2 === 1) {
    return messages().map((message) => ({ kind: "endAfter", message, attempt: 1, arg: (i + 1) / 2 }));
  }
  const next = randomFrom(seedOf(seed, i));
  const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)] as T; // next() is below 1
  const only = i < FIRST ? FAULT_KINDS[i / 2] : undefined;
  const some = FAULT_KINDS.filter(() => next() < 0.5);
  const kinds = only !== undefined ? [only] : some.length > 0 ? some : [pick(FAULT_KINDS)];
  const rate = pick(RATES);
  const faults: Fault[] = [];
  for (const message of messages()) {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      if (next() >= rate) continue;
      const kind = pick(kinds);
      const seconds = SECONDS[kind];
      const isEnd = kind === "endBefore" || kind === "endAfter";
      // The first calls more often: each message of a batch makes some.
      const arg = isEnd ? 1 + Math.floor(CALLS_MAX * next() ** 2) : seconds && pick(seconds);
      faults.push({ kind, message, attempt, ...(arg === undefined ? {} : { arg }) });
    }
  }
  return faults;
}

function messages(): number[] {
  return Array.from({ length: MESSAGES_MAX }, (_, i) => i + 1);
}

/** The seed of the i-th history. */
export function seedOf(seed: number, i: number): number {
  return (Math.imul(seed, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b)) >>> 0;
}
