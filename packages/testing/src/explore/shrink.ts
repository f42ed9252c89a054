import type { Fault, FaultKind } from "../api.ts";

/** Input that a history follows from: its faults, and the choices of `random`. */
export interface Recipe {
  readonly faults: readonly Fault[];
  readonly choices: readonly number[];
}

/** Kinds from the strongest to the weakest of those that do the same harm. */
const WEAKER: readonly FaultKind[] = ["endAfter", "endBefore", "crash", "throwAfter", "lostAck", "duplicate"];
/** Calls that are tried for a handler that ends, when there are fewer messages. */
const CALLS_TRIED = 8;

/**
 * Makes a history smaller as long as it breaks the same: fewer faults, smaller choices, weaker and earlier faults. What
 * it is left with follows from the same tries every time.
 *
 * @param isBroken runs a history: the recipe of what came about, if it is broken in the same way; `null` if it is not,
 *   or if there is no time left.
 */
export async function shrink(
  found: Recipe,
  isBroken: (candidate: Recipe) => Promise<Recipe | null>,
): Promise<Recipe> {
  let best = found;
  const better = async (candidate: Recipe): Promise<boolean> => {
    if (sizeOf(candidate) >= sizeOf(best)) return false;
    const broken = await isBroken(candidate);
    if (broken === null) return false;
    // What came about is never more than what was planned.
    best = sizeOf(broken) < sizeOf(candidate) ? broken : candidate;
    return true;
  };
  for (let before = Infinity; sizeOf(best) < before; ) {
    before = sizeOf(best);
    await fewerFaults(() => best, better);
    await smallerChoices(() => best, better);
    await weakerFaults(() => best, better);
  }
  return best;
}

type Better = (candidate: Recipe) => Promise<boolean>;

/** Leaves faults out: half of them, a quarter, and so on to single ones (delta debugging). */
async function fewerFaults(best: () => Recipe, better: Better): Promise<void> {
  for (let size = best().faults.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best().faults.length; ) {
      const { faults, choices } = best();
      const kept = faults.filter((_, i) => i < from || i >= from + size);
      if (!(await better({ faults: kept, choices }))) from += size;
    }
  }
}

/**
 * Smaller choices, most often fewer messages: with the faults as they are, with those of the first messages, and with
 * handlers that end earlier, since they call less.
 */
async function smallerChoices(best: () => Recipe, better: Better): Promise<void> {
  const tryAll = async (choices: readonly number[]) => {
    const { faults } = best();
    const first = ofFirstMessages(faults);
    for (const variant of [faults, first, ...earlierEnds(first)]) {
      if (await better({ faults: variant, choices })) return true;
    }
    return false;
  };
  if (best().choices.length > 0) await tryAll([]);
  for (let i = 0; i < best().choices.length; i++) {
    for (const part of [0, 0.5]) {
      const { choices } = best();
      const smaller = Math.floor((choices[i] ?? 0) * part);
      if (smaller < (choices[i] ?? 0) && (await tryAll(choices.with(i, smaller)))) break;
    }
  }
}

async function weakerFaults(best: () => Recipe, better: Better): Promise<void> {
  for (let i = 0; i < best().faults.length; i++) {
    for (const weaker of weakerThan(best().faults[i])) {
      const { faults, choices } = best();
      if (await better({ faults: faults.with(i, weaker), choices })) break;
    }
  }
}

/** The weakest first. */
function weakerThan(fault: Fault | undefined): Fault[] {
  if (fault === undefined) return [];
  const { arg = 0, ...rest } = fault;
  const place = WEAKER.indexOf(fault.kind);
  const kinds = place === -1 ? [] : WEAKER.slice(place + 1).reverse();
  const args = isEnd(fault)
    ? callsBefore(fault).map((call) => ({ ...rest, arg: call }))
    : [...(arg > 0 ? [rest] : []), ...(arg > 1 ? [{ ...rest, arg: 1 }] : [])];
  return [
    ...kinds.map((kind) => (kind === "endBefore" ? { ...fault, kind } : { ...rest, kind })),
    ...args,
    ...Array.from({ length: fault.attempt - 1 }, (_, i) => ({ ...fault, attempt: i + 1 })),
    ...Array.from({ length: fault.message - 1 }, (_, i) => ({ ...fault, message: i + 1 })),
  ];
}

/** The faults, with handlers that end at an earlier call. */
function earlierEnds(faults: readonly Fault[]): Fault[][] {
  const latest = Math.max(0, ...faults.filter(isEnd).map(({ arg = 1 }) => arg));
  return callsBefore({ arg: latest }).map((call) =>
    faults.map((fault) => (isEnd(fault) && (fault.arg ?? 1) > call ? { ...fault, arg: call } : fault)),
  );
}

function isEnd({ kind }: Fault): boolean {
  return kind === "endBefore" || kind === "endAfter";
}

function callsBefore({ arg = 1 }: Pick<Fault, "arg">): number[] {
  return Array.from({ length: Math.max(0, Math.min(arg - 1, CALLS_TRIED)) }, (_, i) => i + 1);
}

/** The faults with the numbers of the first messages: the order stays. */
function ofFirstMessages(faults: readonly Fault[]): Fault[] {
  const numbers = [...new Set(faults.map(({ message }) => message))].sort((a, b) => a - b);
  return faults.map((fault) => ({ ...fault, message: numbers.indexOf(fault.message) + 1 }));
}

/** Grows with everything that makes a history harder to read; one fault counts for more than all the rest. */
function sizeOf({ faults, choices }: Recipe): number {
  const sizes = faults.map(({ kind, message, attempt, arg = 0 }) => {
    const strength = WEAKER.includes(kind) ? WEAKER.length - WEAKER.indexOf(kind) : 1;
    return 1e9 + 1e4 * strength + 10 * Math.min(1_000, message) + attempt + Math.min(1, arg / 1e6);
  });
  const chosen = choices.map((choice) => 1 + Math.min(1e4, choice));
  return sizes.reduce((sum, size) => sum + size, 0) + 1e5 * chosen.reduce((sum, size) => sum + size, 0);
}
