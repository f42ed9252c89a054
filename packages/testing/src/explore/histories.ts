import { FAULT_KINDS, type Fault, type FaultKind } from "../api.ts";
import { numbersFrom } from "./random.ts";

/** Messages and deliveries that faults are planned for: of a history with more, the others go well. */
const MESSAGES_MAX = 24;
const ATTEMPTS_MAX = 3;
/** How many deliveries go wrong, of which each history has one. */
const RATES = [0.05, 0.15, 0.4];
/** Seconds of the faults that have some. */
const SECONDS: Readonly<Partial<Record<FaultKind, readonly number[]>>> = {
  reorder: [0, 1, 60],
  lateRetry: [60, 3_600, 43_200],
};

/**
 * The faults of the i-th history. The first ones have one kind each; of the others each has some of the kinds, since
 * what many kinds do together hides what few do.
 */
export function faultsOf(seed: number, i: number): Fault[] {
  const next = numbersFrom(seedOf(seed, i));
  const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)] as T; // next() is below 1
  const only = FAULT_KINDS[i];
  const some = FAULT_KINDS.filter(() => next() < 0.5);
  const kinds = only !== undefined ? [only] : some.length > 0 ? some : [pick(FAULT_KINDS)];
  const rate = pick(RATES);
  const faults: Fault[] = [];
  for (let message = 1; message <= MESSAGES_MAX; message++) {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      if (next() >= rate) continue;
      const kind = pick(kinds);
      const seconds = SECONDS[kind];
      faults.push({ kind, message, attempt, ...(seconds === undefined ? {} : { arg: pick(seconds) }) });
    }
  }
  return faults;
}

/** The seed of the i-th history. */
export function seedOf(seed: number, i: number): number {
  return (Math.imul(seed, 0x9e3779b1) ^ Math.imul(i + 1, 0x85ebca6b)) >>> 0;
}
