import { randomFrom } from "@sluice/protocol";
import { FAULT_KINDS, type Fault, type FaultKind } from "../api.ts";

/** Messages and deliveries of a history that can have faults. The others go well. */
const MESSAGES_MAX = 24;
const ATTEMPTS_MAX = 3;
/** Rates of deliveries with a fault; each history has one of them. */
const RATES = [0.05, 0.15, 0.4];
/** Latest call at which a handler ends. */
const CALLS_MAX = 32;
/** Seconds for the kinds of fault that take some. */
const SECONDS: Readonly<Partial<Record<FaultKind, readonly number[]>>> = {
  reorder: [0, 1, 60],
  lateRetry: [60, 3_600, 43_200],
};

/**
 * Number of the first histories: one for each kind of fault, each followed by one in which handlers end at a later
 * call.
 */
const FIRST = 2 * FAULT_KINDS.length;

/**
 * Plans the faults of the i-th history. Each of the first ones has one kind. In every other one of them, each message's
 * first handler ends after a later call, which most often finds work that is done in part. Each later history has some
 * of the kinds, because many kinds together hide what a few cause.
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
      // Earlier calls are more frequent, because each message of a batch makes some.
      const arg = isEnd ? 1 + Math.floor(CALLS_MAX * next() ** 2) : seconds && pick(seconds);
      faults.push({ kind, message, attempt, ...(arg === undefined ? {} : { arg }) });
    }
  }
  return faults;
}

function messages(): number[] {
  return Array.from({ length: MESSAGES_MAX }, (_, i) => i + 1);
}

/** Derives the seed of the i-th history. */
export function seedOf(seed: number, i: number): number {
  return (Math.imul(seed, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b)) >>> 0;
}
