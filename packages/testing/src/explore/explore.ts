import { FAULT_KINDS, type Fault, type FaultKind, type Story } from "../api.ts";
import { Runtime } from "../runtime/runtime.ts";
import { type ExploreOptions, refuseUnusableExploration } from "./explore-options.ts";
import { faultsOf, seedOf } from "./histories.ts";
import { Choices } from "./random.ts";
import { type Found, missedText, textOf, unfinishedText } from "./report.ts";
import { type Recipe, shrink } from "./shrink.ts";

/** Default number of histories. */
const HISTORIES_DEFAULT = 500;
/** Default time limit of an exploration in ms: less than the 5 s that Vitest gives a test. */
const TIMEOUT_MS_DEFAULT = 4_000;
/** Parts of the time limit at which search and shrinking end. Two more runs follow. */
const SEARCH_PART = 0.75;
const SHRINK_PART = 0.9;
const SHRINK_RUNS_MAX = 200;

/** Summary of an exploration. */
export interface Report {
  readonly seed: number;
  /** Number of histories that were run. */
  readonly histories: number;
  /** Whether all histories were run, so that time did not run out. */
  readonly isComplete: boolean;
  /** Number of times that each fault came. A fault that never came has tested nothing. */
  readonly faults: Readonly<Record<FaultKind, number>>;
}

/** Error for a history that breaks an invariant, made as small as possible. */
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

interface Ran extends Recipe {
  readonly violation: Error | null;
  readonly stories: readonly Story[];
  /** Planned faults whose delivery has taken place, also where the handler gave them no occasion. */
  readonly due: readonly Fault[];
}

/**
 * Runs histories in which deliveries fail as in production: messages come twice, in another order or late, batches are
 * split, handlers fail or end half-way, acknowledgements are lost. No fault costs a message its last attempt, so a lost
 * message is the project's own mistake. Only the exploration may use the runtime until it is done. What Workers print
 * is shown of the reported history alone.
 *
 * ```ts
 * await explore({
 *   runtime: queues,
 *   act: ({ env }) => env.ORDERS.send({ id: 7 }),
 *   holds: async ({ env }) => expect(await env.PAYMENTS.get("7")).toBe("once"),
 * });
 * ```
 *
 * @throws BrokenHistoryError if an invariant is broken: with the smallest such history, its seed, and a line to paste
 *   as a test.
 * @throws TypeError for an option that there is not, or a value that it cannot have.
 * @throws Error for a `history` that holds and has a fault without its delivery: such a history tests nothing.
 * @throws the error of `act`, and the reason of `signal`.
 */
export async function explore<E>(options: ExploreOptions<E>): Promise<Report> {
  refuseUnusableExploration(options);
  const { runtime, signal } = options;
  // The start of its own runtime counts for the time limit.
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
  if (given !== undefined) await queues.show(true);
  let i = 0;
  for (; i < count && (i === 0 || isTime()); i++) {
    const ran = await run(queues, options, {
      seed: seedOf(seed, i),
      faults: given ?? faultsOf(seed, i),
      choices,
    });
    for (const { kind } of ran.faults) came[kind] += 1;
    if (ran.violation === null) {
      const missed = given === undefined ? null : missedText(given, ran);
      if (missed !== null) throw new Error(missed);
      continue;
    }
    const found = { ran, violation: ran.violation, number: i + 1, count, seed, came };
    throw await broken(
      queues,
      options,
      { ...found, endsMs: startedMs + SHRINK_PART * timeoutMs },
      given !== undefined,
    );
  }
  const isComplete = i === count;
  if (!isComplete) queues.warn(unfinishedText(i, count, performance.now() - startedMs));
  return { seed, histories: i, isComplete, faults: came };
}

interface RunInput {
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** `null` for the choices of the seed. */
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
  const { faults: came, dueFaults: due, knownStories: stories } = queues;
  return { violation, faults: [...came], choices: random.made, stories, due: [...due] };
}

interface FirstFound extends Pick<Found, "number" | "count" | "seed" | "came"> {
  readonly ran: Ran;
  readonly violation: Error;
  /** Time at which shrinking ends, by `performance.now()`. */
  readonly endsMs: number;
}

/** Makes the error of a broken history, shrunk unless the history was given. */
async function broken<E>(
  queues: Runtime<E>,
  options: ExploreOptions<E>,
  { ran, violation, endsMs, ...found }: FirstFound,
  isGiven: boolean,
): Promise<BrokenHistoryError> {
  const kind = kindOf(violation);
  let runs = 0;
  const again = (recipe: Recipe) => run(queues, options, { seed: found.seed, ...recipe });
  const reproduce = async (candidate: Recipe): Promise<Recipe | null> => {
    if (runs >= SHRINK_RUNS_MAX || performance.now() > endsMs) return null;
    runs += 1;
    const tried = await again(candidate);
    return tried.violation !== null && kindOf(tried.violation) === kind ? tried : null;
  };
  const recipe = isGiven ? ran : await shrink(ran, reproduce);
  const before = isGiven ? ran : await again(recipe);
  await queues.show(true);
  const shown = isGiven ? ran : await again(recipe);
  const isSteady = [before, shown].every(({ violation: each }) => each !== null && kindOf(each) === kind);
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

/** Identifies a violation by the kind of error and the place where it was thrown. */
function kindOf({ name, stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => !line.includes("node_modules") && !line.includes("node:"));
  return `${name} ${own ?? frames[0] ?? ""}`;
}
