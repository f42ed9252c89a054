import { FAULT_KINDS, type Fault, type FaultKind, type QueueRuntime, type Story } from "../api.ts";
import { Runtime } from "../runtime/runtime.ts";
import { faultsOf, seedOf } from "./histories.ts";
import { Choices, type Random } from "./random.ts";
import { type Found, textOf } from "./report.ts";
import { type Recipe, shrink } from "./shrink.ts";

/** Histories that are run unless `histories` says otherwise. */
export const HISTORIES_DEFAULT = 500;
/** How long an exploration takes unless `timeoutMs` says otherwise: less than the 5 s that Vitest gives a test. */
export const TIMEOUT_MS_DEFAULT = 4_000;
/**
 * Part of that time in which histories begin, and in which a broken one is made smaller, which is then run twice more.
 */
const SEARCH_PART = 0.75;
const SHRINK_PART = 0.9;
/** Runs that a broken history is made smaller for. */
const SHRINK_RUNS_MAX = 200;

export interface ExploreOptions<E = Record<string, unknown>> {
  /** A runtime, emptied before each history; or what starts one, which is ended after the last. */
  readonly runtime: QueueRuntime<E> | (() => Promise<QueueRuntime<E>>);
  /** Does what users of the project do: sends messages, makes requests, moves the clock. */
  act(queues: QueueRuntime<E>, random: Random): Promise<unknown> | unknown;
  /** Looks whether what must hold does, when nothing is left to be delivered: throws, or answers `false`, if not. */
  holds(queues: QueueRuntime<E>, stories: readonly Story[]): Promise<unknown> | unknown;
  /** Default 500: as many of them as there is time for. */
  readonly histories?: number;
  /**
   * How long it may take, in ms of real time: default 4,000, since Vitest ends a test after 5,000. No history begins in
   * its last quarter, in which a broken one is made smaller. One that is under way is always finished.
   */
  readonly timeoutMs?: number;
  /** Ends it: it rejects with the reason. What still runs of it can do nothing to the runtime any more. */
  readonly signal?: AbortSignal;
  /** Seed that all chance follows from. Default: another one each time, which a failure names. */
  readonly seed?: number;
  /** One history to run: what goes wrong in it. */
  readonly history?: readonly Fault[];
  /** The choices of `random` in that history. Default: what follows from the seed. */
  readonly choices?: readonly number[];
}

/** Summary of the histories that were run. */
export interface Report {
  readonly seed: number;
  /** How many were run. */
  readonly histories: number;
  /** Whether those are all that it was to run, and not those that there was time for. */
  readonly isComplete: boolean;
  /** How often each fault came. One that never did has shown nothing. */
  readonly faults: Readonly<Record<FaultKind, number>>;
}

/** A history in which something does not hold that must, as small as it could be made. */
export class BrokenHistoryError extends Error {
  override readonly name = "BrokenHistoryError";
  readonly seed: number;
  readonly history: readonly Fault[];
  readonly choices: readonly number[];

  constructor(text: string, cause: Error, { seed, faults, choices }: Recipe & { readonly seed: number }) {
    super(text, { cause });
    this.seed = seed;
    this.history = faults;
    this.choices = choices;
  }
}

/** Result of the run of a history. */
interface Ran extends Recipe {
  readonly violation: Error | null;
  readonly stories: readonly Story[];
}

/**
 * Runs histories in which deliveries go wrong as they do in production: messages that come twice, in another order or
 * late, batches that are cut, handlers that fail or end half-way, acknowledgements that are lost. Each message keeps
 * its last attempt, so what a project loses it loses by itself. Until it is done nobody else may use the runtime.
 *
 * @throws BrokenHistoryError if something does not hold that must: with the smallest such history, its seed, and a line
 *   to paste as a test.
 * @throws whatever `act` throws.
 * @throws the reason of `signal`.
 */
export async function explore<E>(options: ExploreOptions<E>): Promise<Report> {
  const { runtime, signal } = options;
  // A runtime of its own is started within the time, too.
  const startedMs = performance.now();
  const isOurs = typeof runtime === "function";
  const queues = isOurs ? await runtime() : runtime;
  if (!(queues instanceof Runtime)) throw new TypeError("runtime: not one of createQueueRuntime.");
  try {
    return await queues.explore(() => exploreOn(queues, options, startedMs), signal);
  } finally {
    if (isOurs) await queues[Symbol.asyncDispose]();
  }
}

async function exploreOn<E>(
  queues: Runtime<E>,
  options: ExploreOptions<E>,
  startedMs: number,
): Promise<Report> {
  const { histories = HISTORIES_DEFAULT, seed = Math.floor(Math.random() * 2 ** 31) } = options;
  const { history: given, choices = null, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
  const came = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>;
  const isTime = () => performance.now() - startedMs < SEARCH_PART * timeoutMs;
  const count = given === undefined ? histories : 1;
  let i = 0;
  for (; i < count && (i === 0 || isTime()); i++) {
    const ran = await run(queues, options, {
      seed: seedOf(seed, i),
      faults: given ?? faultsOf(seed, i),
      choices,
    });
    for (const { kind } of ran.faults) came[kind] += 1;
    if (ran.violation === null) continue;
    const found = { ran, violation: ran.violation, number: i + 1, count, seed, came };
    throw await broken(
      queues,
      options,
      { ...found, endsMs: startedMs + SHRINK_PART * timeoutMs },
      given !== undefined,
    );
  }
  return { seed, histories: i, isComplete: i === count, faults: came };
}

interface RunInput {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** `null` for what follows from the seed. */
  readonly choices: readonly number[] | null;
}

async function run<E>(
  queues: Runtime<E>,
  { act, holds }: Pick<ExploreOptions<E>, "act" | "holds">,
  { seed, faults, choices }: RunInput,
): Promise<Ran> {
  await queues.begin(faults);
  const random = new Choices(seed, choices);
  await act(queues, random);
  let violation: Error | null = null;
  try {
    await queues.runUntilIdle();
    if ((await holds(queues, queues.knownStories)) === false) throw new Error("holds() is false");
  } catch (error) {
    violation = error instanceof Error ? error : new Error(String(error));
  }
  return { violation, faults: [...queues.faults], choices: random.made, stories: queues.knownStories };
}

interface FirstFound extends Pick<Found, "number" | "count" | "seed" | "came"> {
  readonly ran: Ran;
  readonly violation: Error;
  /** When there is no time left, by `performance.now()`. */
  readonly endsMs: number;
}

/** The error of a broken history, made smaller unless it was given. */
async function broken<E>(
  queues: Runtime<E>,
  options: ExploreOptions<E>,
  { ran, violation, endsMs, ...found }: FirstFound,
  isGiven: boolean,
): Promise<BrokenHistoryError> {
  const kind = kindOf(violation);
  let runs = 0;
  const again = (recipe: Recipe) => run(queues, options, { seed: found.seed, ...recipe });
  const isBroken = async (candidate: Recipe): Promise<Recipe | null> => {
    if (runs >= SHRINK_RUNS_MAX || performance.now() > endsMs) return null;
    runs += 1;
    const tried = await again(candidate);
    return tried.violation !== null && kindOf(tried.violation) === kind ? tried : null;
  };
  const recipe = isGiven ? ran : await shrink(ran, isBroken);
  const last = [isGiven ? ran : await again(recipe), isGiven ? ran : await again(recipe)];
  const isSteady = last.every(({ violation: each }) => each !== null && kindOf(each) === kind);
  const [shown = ran] = last;
  const text = textOf({
    ...found,
    runs,
    isSteady,
    violation: shown.violation ?? violation,
    stories: shown.stories,
    first: { faults: ran.faults.length, messages: ran.stories.length },
    recipe,
  });
  return new BrokenHistoryError(text, shown.violation ?? violation, { seed: found.seed, ...recipe });
}

/**
 * Names the kind of a violation: the kind of error, and where it was thrown. Two violations of the same thing share it.
 */
function kindOf({ name, stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => !line.includes("node_modules") && !line.includes("node:"));
  return `${name} ${own ?? frames[0] ?? ""}`;
}
