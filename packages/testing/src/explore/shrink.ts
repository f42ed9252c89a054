import type { Fault, FaultKind } from "../api.ts";

/** Input of a history: its faults, and the choices of `random`. */
export interface Recipe {
  readonly faults: readonly Fault[];
  readonly choices: readonly number[];
}

/** Kinds with the same kind of harm, from the strongest to the weakest. */
const WEAKER: readonly FaultKind[] = ["endAfter", "endBefore", "crash", "throwAfter", "lostAck", "duplicate"];
/** Most calls that are tried for the end of a handler. */
const CALLS_TRIED = 8;

/**
 * Shrinks a history that stays broken in the same way: fewer faults, smaller choices, weaker and earlier faults. The
 * result is deterministic.
 *
 * @param reproduce runs a history. Returns its real recipe if it breaks in the same way; `null` if not, or if time has
 *   run out.
 */
export async function shrink(
  found: Recipe,
  reproduce: (candidate: Recipe) => Promise<Recipe | null>,
): Promise<Recipe> {
  let best = found;
  const better = async (candidate: Recipe): Promise<boolean> => {
    if (sizeOf(candidate) >= sizeOf(best)) return false;
    const broken = await reproduce(candidate);
    if (broken === null) return false;
    // The real recipe is never larger than the planned one.
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

/** Leaves out faults: half of them, a quarter, and so on to single ones (delta debugging). */
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
 * Tries smaller choices, which most often mean fewer messages: with the same faults, with faults for the first
 * messages, and with earlier ends of handlers, which make fewer calls.
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

/** Lists weaker variants of a fault, the weakest first. */
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

/** Varies the faults so that handlers end at an earlier call. */
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

/** Renumbers the faults to the first messages, in the same order. */
function ofFirstMessages(faults: readonly Fault[]): Fault[] {
  const numbers = [...new Set(faults.map(({ message }) => message))].sort((a, b) => a - b);
  return faults.map((fault) => ({ ...fault, message: numbers.indexOf(fault.message) + 1 }));
}

/** Measures how hard a history is to read. A fault counts for more than everything else. */
function sizeOf({ faults, choices }: Recipe): number {
  const sizes = faults.map(({ kind, message, attempt, arg = 0 }) => {
    const strength = WEAKER.includes(kind) ? WEAKER.length - WEAKER.indexOf(kind) : 1;
    return 1e9 + 1e4 * strength + 10 * Math.min(1_000, message) + attempt + Math.min(1, arg / 1e6);
  });
  const chosen = choices.map((choice) => 1 + Math.min(1e4, choice));
  return sizes.reduce((sum, size) => sum + size, 0) + 1e5 * chosen.reduce((sum, size) => sum + size, 0);
}
