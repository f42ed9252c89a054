import { FAULT_KINDS, type Fault, type FaultKind, type Story } from "../api.ts";
import type { Recipe } from "./shrink.ts";

/** A broken history, for its report. */
export interface Found {
  readonly number: number;
  readonly count: number;
  readonly seed: number;
  readonly violation: Error;
  /** Size of the history before shrinking. */
  readonly first: { readonly faults: number; readonly messages: number };
  readonly recipe: Recipe;
  readonly stories: readonly Story[];
  readonly runs: number;
  /** Whether it breaks in every run. */
  readonly isSteady: boolean;
  /** Number of times that each fault came in all histories so far. */
  readonly came: Readonly<Record<FaultKind, number>>;
}

/** Histories after which the report names faults that never came. */
const NEVER_CAME_FROM = 20;
const STORIES_MAX = 6;

/** Describes a broken history, with a line to paste as a test. */
export function textOf(found: Found): string {
  const { number, count, seed, violation, first, recipe, stories, runs, isSteady, came } = found;
  const never = FAULT_KINDS.filter((kind) => came[kind] === 0);
  const where = count === 1 ? "" : ` in history ${number} of ${count}`;
  return [
    `Broken${where} (seed ${seed}): ${violation.message.split("\n", 1)[0]}`,
    `  ${first.faults} faults -> ${recipe.faults.length}, ` +
      `${first.messages} messages -> ${stories.length}, in ${runs} runs`,
    ...stories.slice(0, STORIES_MAX).map((story, i) => `  ${lineOf(story, i + 1, recipe.faults)}`),
    ...(stories.length > STORIES_MAX ? [`  … and ${stories.length - STORIES_MAX} more messages`] : []),
    ...(isSteady
      ? []
      : ["  It does not break every time: something in it follows from real time or chance."]),
    ...(number >= NEVER_CAME_FROM && never.length > 0 ? [`  never came: ${never.join(", ")}`] : []),
    "As a test:",
    `  await explore({ ...spec, ${pasted(recipe, seed)} });`,
  ].join("\n");
}

/** Returns the text that time ran out before all histories were run, and that none of them broke anything. */
export function unfinishedText(histories: number, count: number, tookMs: number): string {
  const took = (tookMs / 1_000).toFixed(1);
  return `explore: ${histories} of ${count} histories in ${took} s, none broken, then its time was over; timeoutMs gives it more.`;
}

/**
 * Names the faults of a replayed history that had no delivery to come at; `null` if each had one. A fault that had one
 * counts, since a mended handler may give it no occasion: it may make fewer calls.
 */
export function missedText(
  history: readonly Fault[],
  { due, stories }: { readonly due: readonly Fault[]; readonly stories: readonly Story[] },
): string | null {
  const missed = history.flatMap((fault, i) => {
    const { kind, message, attempt } = fault;
    const isDue = due.some((one) => one.kind === kind && one.message === message && one.attempt === attempt);
    if (isDue) return [];
    return [
      `Fault ${i + 1} of the history (${kind} of message ${message}, delivery ${attempt}) never came: ${whyMissed(fault, stories)}.`,
    ];
  });
  if (missed.length === 0) return null;
  return [
    ...missed,
    "The history holds, but is not the one that was to be tested. If the code has changed, explore it anew, and leave out " +
      "what can no longer happen.",
  ].join("\n");
}

function whyMissed({ message, attempt }: Fault, stories: readonly Story[]): string {
  const story = stories[message - 1];
  if (story === undefined) return `the number of messages was ${stories.length}`;
  const deliveries = story.events.filter(({ what }) => what === "delivered").length;
  if (deliveries < attempt) return `the number of its deliveries was ${deliveries}`;
  return "clients that pull have no faults, FIFO queues keep their order, and no fault costs a message its last attempt";
}

function lineOf({ queue, body, events }: Story, message: number, faults: readonly Fault[]): string {
  let deliveries = 0;
  const parts = events.map(({ what, delay, error }) => {
    if (what !== "delivered") {
      const late = delay === undefined ? "" : ` in ${delay} s`;
      return `${what}${late}${error === undefined ? "" : ` (${error.split("\n", 1)[0]})`}`;
    }
    deliveries += 1;
    const wrong = faults.filter((fault) => fault.message === message && fault.attempt === deliveries);
    return ["delivered", ...wrong.map(({ kind }) => `[${kind}]`)].join(" ");
  });
  return `${queue}#${message} ${JSON.stringify(body)}: ${parts.join(", ")}`;
}

function pasted({ faults, choices }: Recipe, seed: number): string {
  const list = faults.map((fault) => {
    const members = Object.entries(fault).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
    return `{ ${members.join(", ")} }`;
  });
  return `seed: ${seed}, choices: ${JSON.stringify(choices)}, history: [${list.join(", ")}]`;
}
