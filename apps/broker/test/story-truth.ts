import type { World } from "@sluice/broker/testing/world";
import { storySteps, wordsOf } from "@sluice/dashboard/testing/story-steps";
import type { EventView, StoryGapView, StoryView } from "@sluice/gateway/views";

type Observer = NonNullable<World["observer"]>;
type Noted = Parameters<Observer["noted"]>[1];

/** One true event of one message. */
interface Happened {
  /** Number among all events. */
  readonly order: number;
  readonly queue: string;
  readonly atMs: number;
  readonly event: Noted;
  /** Counted deliveries of the message in this queue so far. */
  readonly attempt: number;
}

const ENDS: readonly string[] = ["acked", "deadLettered", "dropped", "expired", "deleted", "purged"];

/** Complete log of the events of each message, which histories may keep only in part. */
export class FullLog implements Observer {
  readonly #ofMessages = new Map<string, Happened[]>();
  readonly #ofQueues: (Omit<Happened, "attempt"> & { readonly queue: string })[] = [];
  readonly #idAt = new Map<string, string>();
  #order = 0;

  stored(): void {}

  noted(queue: string, event: Noted, atMs: number): void {
    const order = this.#order++;
    if (event.count === 0 || event.kind === "purged") this.#ofQueues.push({ order, queue, atMs, event });
    const places = placesOf(event).map((place) => `${queue} ${place}`);
    if (event.kind === "accepted" || event.kind === "arrived") {
      for (const [i, id] of idsOf(event).entries()) this.#idAt.set(places[i] ?? "", id);
    }
    const ids =
      event.kind === "purged" ? this.#hereIn(queue) : places.map((place) => this.#idAt.get(place) ?? "");
    for (const id of ids) {
      const before = this.of(id).filter((happened) => happened.queue === queue);
      const last = before.at(-1)?.attempt ?? 0;
      const isUncounted = before.at(-1)?.event.delay === "absence";
      // The end of a delivery may come after the next one has begun.
      const own = before.find((each) => each.event.kind === "delivered" && each.event.batch === event.batch);
      const attempt = event.kind === "delivered" ? last + (isUncounted ? 0 : 1) : (own?.attempt ?? last);
      this.#ofMessages.set(id, [...this.of(id), { order, queue, atMs, event, attempt }]);
    }
  }

  get ids(): string[] {
    return [...this.#ofMessages.keys()];
  }

  of(id: string): readonly Happened[] {
    return this.#ofMessages.get(id) ?? [];
  }

  /** Time within a span, in ms, in which delivery of a queue was paused. */
  pausedMs(queue: string, sinceMs: number, untilMs: number): number {
    let [pausedSinceMs, sum] = [Infinity, 0];
    const resumed: Noted = { kind: "resumed", count: 0 };
    const ends = [...this.#ofQueues, { queue, atMs: untilMs, event: resumed }];
    for (const { atMs, event, ...of } of ends) {
      if (of.queue !== queue) continue;
      if (event.kind === "paused") pausedSinceMs = atMs;
      // A move in a pause counts as a move alone.
      if (event.kind === "clockMoved" && pausedSinceMs < Infinity && atMs > sinceMs && atMs <= untilMs)
        sum -= event.delayMs ?? 0;
      if (event.kind !== "resumed") continue;
      sum += Math.max(0, Math.min(atMs, untilMs) - Math.max(pausedSinceMs, sinceMs));
      pausedSinceMs = Infinity;
    }
    return sum;
  }

  /**
   * Sum of the clock moves of a queue between two events, in ms.
   *
   * @param after order of the earlier event.
   * @param before order of the later event.
   */
  movedMs(queue: string, after: number, before: number): number {
    return this.#ofQueues
      .filter(({ event, order, ...of }) => of.queue === queue && order > after && order < before)
      .reduce((sum, { event }) => sum + (event.kind === "clockMoved" ? (event.delayMs ?? 0) : 0), 0);
  }

  #hereIn(queue: string): string[] {
    return this.ids.filter((id) => {
      const own = this.of(id).filter((happened) => happened.queue === queue);
      return own.length > 0 && !own.some(({ event }) => ENDS.includes(event.kind));
    });
  }
}

function idsOf({ ids = "" }: Noted): string[] {
  return ids.match(/.{32}/g) ?? [];
}

function placesOf({ at = [] }: Noted): string[] {
  return Array.from({ length: at.length / 3 }, (_, i) => at.slice(3 * i, 3 * i + 3)).flatMap(
    ([segment = 0, from = 0, to = 0]) =>
      Array.from({ length: to - from }, (_, index) => `${segment} ${from + index}`),
  );
}

/** Lists the statements of a story that are false, and the events that are in neither its steps nor its gaps. */
export function liesIn(story: StoryView, id: string, log: FullLog): string[] {
  const truth = log.of(id);
  const { steps, gapsAfter } = storySteps(story);
  const lies: string[] = [];
  const matched: Happened[] = [];
  for (const [i, step] of steps.entries()) {
    const shown = story.events[i];
    const happened = truth.find(
      (each) =>
        each.order > (matched.at(-1)?.order ?? -1) &&
        shown?.kind === each.event.kind &&
        step.queue === each.queue &&
        Date.parse(step.at) === each.atMs,
    );
    if (happened === undefined) return [`${step.title} at ${step.at} did not happen`];
    // An event that is known from a dead letter alone may lack its producer.
    const known = shown?.number === null && shown.by === null ? { by: null } : {};
    const words = [happened.attempt, null].map((attempt) =>
      wordsOf({ ...viewOf(happened, id, attempt), ...known }),
    );
    if (!words.some(({ title, detail }) => title === step.title && detail === step.detail))
      lies.push(`it was not "${step.title}", "${step.detail}", but ${JSON.stringify(words[0])}`);
    if ((step.error ?? "") !== (happened.event.error ?? "")) lies.push(`the error was not ${step.error}`);
    const before = matched.at(-1);
    // A delivery may fail after its messages were deleted.
    if (shown?.kind !== "failed" && before?.queue === step.queue && ENDS.includes(before.event.kind))
      lies.push(`${step.title} is after its end, ${before.event.kind}`);
    if (step.wait !== null && before !== undefined) {
      const between = truth.filter(({ order }) => order > before.order && order < happened.order);
      if (between.length > 0)
        lies.push(`it did not just "${step.wait.text}", but was ${between[0]?.event.kind}`);
      const text = waitText(before, happened, truth, log);
      if (step.wait.text !== text) lies.push(`it was not "${step.wait.text}", but "${text}"`);
    }
    for (const { reason, since, until } of step.gaps) {
      if (reason !== "merged") continue;
      if (before !== undefined && (since ?? "") < (steps[i - 1]?.at ?? ""))
        lies.push(`a gap since ${since} is after ${before.event.kind}`);
      if ((until ?? "") > step.at) lies.push(`a gap until ${until} is before ${step.title}`);
    }
    matched.push(happened);
  }
  for (const { since } of gapsAfter) {
    if ((since ?? "") < (steps.at(-1)?.at ?? "")) lies.push(`a gap since ${since} is at the end`);
  }
  const [send] = truth;
  // A story without steps must have a gap for the time at which the message was sent.
  const missing =
    matched.length === 0 && send !== undefined ? [send] : truth.filter((each) => !matched.includes(each));
  for (const { queue, atMs, event } of missing) {
    if (!story.gaps.some((gap) => isIn(gap, queue, atMs, event.kind)))
      lies.push(`${event.kind} at ${new Date(atMs).toISOString()} in ${queue} is missing`);
  }
  if (missing.length === 0 && story.gaps.some(({ reason, after }) => reason === "unknown" && after !== null))
    lies.push("it lacks nothing, though it says so");
  return lies;
}

function isIn(
  { since, until, kinds, ...gap }: StoryGapView,
  queue: string,
  atMs: number,
  kind: string,
): boolean {
  const at = new Date(atMs).toISOString();
  if (gap.queue !== queue || (since !== null && at < since) || (until !== null && at > until)) return false;
  return kinds === null || kinds.some((each) => each === kind);
}

function waitText(
  before: Happened,
  { event, queue, atMs, order }: Happened,
  truth: readonly Happened[],
  log: FullLog,
) {
  const last = truth.findLast((each) => each.order < order && each.event.kind !== "faulted")?.event;
  const isHeld = last?.kind === "delivered";
  const isWork = isHeld && event.batch !== undefined && event.batch === last.batch;
  const pausedMs = isHeld ? 0 : log.pausedMs(queue, before.atMs, atMs);
  const movedMs = log.movedMs(queue, before.order, order);
  const time = (ms: number) => {
    // Formatted by the story itself.
    const two = [0, ms].map((at) => ({ ...viewOf(before, "1", null), at: new Date(at).toISOString() }));
    return waitOf(two).replace("waited ", "");
  };
  const text = isWork ? `worked on for ${time(atMs - before.atMs)}` : `waited ${time(atMs - before.atMs)}`;
  const verb = isHeld && !isWork ? `${time(atMs - before.atMs)} passed` : text;
  const parts = [
    ...(pausedMs > 0 ? [`${time(pausedMs)} paused`] : []),
    ...(movedMs > 0 ? [`${time(movedMs)} by moving the clock`] : []),
  ];
  return parts.length === 0 ? verb : `${verb}, of that ${parts.join(" and ")}`;
}

function waitOf(events: readonly EventView[]): string {
  const same = events.map((event, i) => ({ ...event, kind: "accepted" as const, number: i }));
  return storySteps({ events: same, gaps: [], messages: [] }).steps[1]?.wait?.text ?? "";
}

function viewOf({ queue, atMs, event }: Happened, id: string, attempt: number | null): EventView {
  const { kind, by, to, batch, delayMs, delay, error, tookMs } = event;
  return {
    number: 0,
    kind,
    at: new Date(atMs).toISOString(),
    queue,
    messages: 1,
    ids: [id],
    otherIds: [],
    by: by === undefined || by === "" ? null : by,
    to: to ?? null,
    batch: batch ?? null,
    attempt,
    delayMs: delayMs ?? null,
    delayReason: delay ?? null,
    error: error ?? null,
    tookMs: tookMs ?? null,
    merged: null,
  };
}
