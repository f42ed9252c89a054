import { FAULT_KINDS, type Fault, type QueueRuntime, type Story } from "../api.ts";
import { listed, type Names, refuseUnknown } from "../runtime/options.ts";
import type { Random } from "./random.ts";

export interface ExploreOptions<E = Record<string, unknown>> {
  /** Runtime, which is emptied before each history, or a function that starts one, which is disposed of at the end. */
  readonly runtime: QueueRuntime<E> | (() => Promise<QueueRuntime<E>>);
  /** Acts as the project's users: sends messages, makes requests, moves the clock. */
  act(queues: QueueRuntime<E>, random: Random): Promise<unknown> | unknown;
  /** Checks the invariants when nothing is left to deliver. Throws, or returns `false`, if one is broken. */
  holds(queues: QueueRuntime<E>, stories: readonly Story[]): Promise<unknown> | unknown;
  /** Most histories to run, as time allows. Default: 500. */
  readonly histories?: number;
  /**
   * Time limit in ms of real time. Default: 4,000, since Vitest ends a test after 5,000. No history begins in its last
   * quarter, which is for shrinking a broken one. A history that has begun is always finished. A line on standard error
   * says how many were run if that is not all of them.
   */
  readonly timeoutMs?: number;
  /** Ends the exploration, which rejects with the signal's reason and stops using the runtime. */
  readonly signal?: AbortSignal;
  /** Seed of all random choices. Default: a new one each time, which a failure names. */
  readonly seed?: number;
  /** The faults of a single history to run. Each needs a delivery to come at. */
  readonly history?: readonly Fault[];
  /** Choices of `random` in that history. Default: those of the seed. */
  readonly choices?: readonly number[];
}

const OPTIONS: Names<ExploreOptions> = {
  runtime: true,
  act: true,
  holds: true,
  histories: true,
  timeoutMs: true,
  signal: true,
  seed: true,
  history: true,
  choices: true,
};
const FAULT: Names<Fault> = { kind: true, message: true, attempt: true, arg: true };

/** @throws TypeError for options that TypeScript would refuse, and for numbers that leave nothing to test. */
export function refuseUnusableExploration<E>(options: ExploreOptions<E>): void {
  refuseUnknown("explore", options, OPTIONS);
  const { act, holds, histories, timeoutMs, seed, history, choices } = options;
  if (typeof act !== "function") throw new TypeError("act: a function.");
  if (typeof holds !== "function") throw new TypeError("holds: a function.");
  refuseOtherThanWhole("histories", histories, 1);
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0)) {
    throw new TypeError("timeoutMs: a number of ms above 0.");
  }
  refuseOtherThanWhole("seed", seed, 0);
  for (const [name, list] of Object.entries({ choices, history })) {
    if (list !== undefined && !Array.isArray(list)) throw new TypeError(`${name}: a list.`);
  }
  for (const choice of choices ?? []) refuseOtherThanWhole("choices", choice, 0);
  for (const [i, fault] of (history ?? []).entries()) refuseUnusableFault(`history[${i}]`, fault);
}

function refuseUnusableFault(where: string, fault: Fault): void {
  refuseUnknown(where, fault, FAULT);
  const { kind, message, attempt, arg = 1 } = fault;
  if (!FAULT_KINDS.includes(kind)) {
    throw new TypeError(
      `${where}: there is no kind ${JSON.stringify(kind)}. There are ${listed(FAULT_KINDS)}.`,
    );
  }
  // Both are there in each fault, so `undefined` is refused too.
  refuseOtherThanWhole(`${where}.message`, message ?? null, 1);
  refuseOtherThanWhole(`${where}.attempt`, attempt ?? null, 1);
  const isEnd = kind === "endBefore" || kind === "endAfter";
  if (isEnd) refuseOtherThanWhole(`${where}.arg`, arg, 1);
  else if (!(Number.isFinite(arg) && arg >= 0)) throw new TypeError(`${where}.arg: seconds, 0 or more.`);
}

/** @param value `undefined` where the option is absent. */
function refuseOtherThanWhole(name: string, value: unknown, min: number): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= min)) return;
  throw new TypeError(`${name}: a whole number, ${min} or more.`);
}
