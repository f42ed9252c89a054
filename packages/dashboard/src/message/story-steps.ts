import type { EventView, StoryGapView, StoryView } from "@sluice/gateway/views";
import { duringBatch, plural } from "@sluice/protocol/words";
import { duration, moment } from "../text/format.ts";

/** One event of a story, in words. */
interface StoryStep {
  readonly key: string;
  readonly tone: "quiet" | "good" | "busy" | "warn" | "bad";
  readonly at: string;
  readonly queue: string;
  readonly title: string;
  /** Further text about the event; empty for none. */
  readonly detail: string;
  readonly error: string | null;
  readonly logs: EventView["logs"];
  /** Gaps between the step before and this one. */
  readonly gaps: readonly StoryGapView[];
  /** Wait between the step before and this one; `null` for none, and where there is a gap. */
  readonly wait: StoryWait | null;
}

interface StoryWait {
  readonly text: string;
  /** Whether the wait is long enough to stand out. */
  readonly isLong: boolean;
}

/** Shortest wait that stands out, in ms. */
const LONG_MS = 1_000;

/** `message`: a delay of its own; `send`: that of its batch or of the producer's binding. */
const DELAY_REASONS: Readonly<Record<NonNullable<EventView["delayReason"]>, string>> = {
  message: "the send asked for it",
  send: "its batch or its binding asked for it",
  queue: "the queue's delivery_delay",
  handler: "the handler asked for it",
  policy: "the queue's retry policy",
  retryDelay: "the queue's retry_delay",
  absence: "no consumer was there to take it; this attempt does not count",
  restart: "the broker stopped during the delivery",
};

/**
 * Puts each event of a message into words, with the wait or the gaps before it.
 *
 * @returns the steps, and the gaps after the last one.
 */
export function storySteps({ events, gaps, messages }: StoryView): {
  readonly steps: readonly StoryStep[];
  readonly gapsAfter: readonly StoryGapView[];
} {
  const placeOf = ({ queue, reason, after }: StoryGapView) => {
    const first = events.findIndex((event) => event.queue === queue);
    if (first === -1) return messages.at(-1)?.queue === queue ? events.length : 0;
    if (after !== null)
      return 1 + events.findIndex((event) => event.queue === queue && event.number === after);
    if (reason === "off") return 1 + events.findLastIndex((event) => event.queue === queue);
    // Events without a number came along with the message. The queue's own events, and its gaps, are behind them.
    const noted = events.findIndex((event) => event.queue === queue && event.number !== null);
    return noted === -1 ? first : noted;
  };
  const placed = gaps.map((gap) => [placeOf(gap), gap] as const);
  const gapsAt = (place: number) => placed.filter(([at]) => at === place).map(([, gap]) => gap);
  const steps = events.map((event, i) => {
    const { number, at, kind, queue, error, logs } = event;
    return {
      key: `${queue} ${number ?? at} ${kind}`,
      at,
      queue,
      ...wordsOf(event),
      error,
      logs,
      gaps: gapsAt(i),
      wait: gapsAt(i).length > 0 ? null : waitBefore(events, i, gaps),
    };
  });
  return { steps, gapsAfter: gapsAt(events.length) };
}

function waitBefore(
  events: readonly EventView[],
  i: number,
  gaps: readonly StoryGapView[],
): StoryWait | null {
  const [event, before] = [events[i], events[i - 1]];
  if (event === undefined || before === undefined) return null;
  const ms = Date.parse(event.at) - Date.parse(before.at);
  // An event without a number came along with the message: what was before it is unknown.
  if (
    ms <= 0 ||
    event.number === null ||
    gaps.some(({ reason, until }) => reason === "overwritten" && (until ?? "") > before.at)
  )
    return null;
  // An event of another delivery, or of none, may have come long after the work.
  const latest = events.slice(0, i).findLast(({ kind }) => kind !== "faulted" && kind !== "printed");
  const isDelivered = latest?.kind === "delivered";
  // A crash has lost the event that began that delivery.
  if (event.delayReason === "restart" && !isDelivered) return null;
  const isWork = isDelivered && event.batch !== null && event.batch === latest.batch;
  const { pausedMs = 0, movedMs = 0 } = event;
  const parts = [
    pausedMs === 0 || isDelivered ? "" : `${duration(pausedMs)} paused`,
    movedMs === 0 ? "" : `${duration(movedMs)} by moving the clock`,
  ].filter(Boolean);
  const text = isWork
    ? `worked on for ${duration(ms)}`
    : isDelivered
      ? `${duration(ms)} passed`
      : `waited ${duration(ms)}`;
  return {
    text: parts.length === 0 ? text : `${text}, of that ${parts.join(" and ")}`,
    isLong: !isDelivered && ms >= LONG_MS,
  };
}

/** Puts an event of one message or of many into words. */
export function wordsOf(event: EventView): Pick<StoryStep, "tone" | "title" | "detail"> {
  const { kind, by, to, attempt, tookMs } = event;
  const took = tookMs === null ? "" : `after ${duration(tookMs)}`;
  switch (kind) {
    case "accepted":
      return { tone: "busy", title: by === null ? "Sent" : `Sent by ${by}`, detail: delayText(event) };
    case "delivered":
      return {
        tone: "busy",
        title: `Delivered${by === null ? "" : ` to ${by}`}`,
        detail: attemptText(attempt),
      };
    case "printed":
      return { tone: "quiet", title: printedTitle(event), detail: printedDetail(event) };
    case "acked":
      return { tone: "good", title: "Acknowledged", detail: took };
    case "failed":
      return { tone: "bad", title: "Failed", detail: [attemptText(attempt), took].filter(Boolean).join(" ") };
    case "retried":
      return { tone: "warn", title: "To be retried", detail: delayText(event) };
    case "deadLettered":
      return {
        tone: "bad",
        title: to === null ? "Moved to a dead-letter queue" : `Moved to dead-letter queue ${to}`,
        detail: attempt === null ? "" : `after ${plural(attempt, "attempt")}`,
      };
    case "dropped":
      return { tone: "bad", title: "Dropped: there is no dead-letter queue", detail: attemptText(attempt) };
    case "arrived":
      return {
        tone: "busy",
        title: by === null ? "Arrived" : `Arrived from ${by}`,
        detail: delayText(event),
      };
    case "redriven":
      return { tone: "busy", title: to === null ? "Redriven" : `Redriven to ${to}`, detail: "" };
    case "expired":
      return { tone: "bad", title: "Expired: older than the queue keeps messages", detail: "" };
    case "purged":
      return { tone: "bad", title: "Purged, with all messages of the queue", detail: "" };
    case "deleted":
      return { tone: "bad", title: "Deleted by hand", detail: "" };
    case "paused":
      return { tone: "warn", title: "Delivery paused", detail: "" };
    case "resumed":
      return { tone: "good", title: "Delivery resumed", detail: "" };
    case "faulted":
      return { tone: "warn", title: "Fault", detail: "" };
    case "clockMoved":
      return { tone: "warn", title: "Clock moved", detail: `by ${duration(event.delayMs ?? 0)}` };
  }
}

function printedTitle({ logs }: EventView): string {
  const count = logs?.lines.length ?? 0;
  if (count === 0) return "Printed";
  return logs?.ofWorker ? `Its Worker printed ${plural(count, "line")}` : `Printed ${plural(count, "line")}`;
}

function printedDetail({ logs, messages }: EventView): string {
  if (logs === undefined) return "not kept: too much happened in this second";
  return duringBatch(messages);
}

function attemptText(attempt: number | null): string {
  return attempt === null ? "" : `attempt ${attempt}`;
}

function delayText({ delayMs, delayReason }: EventView): string {
  const why = delayReason === null ? "" : DELAY_REASONS[delayReason];
  if (delayMs === null) return why && `because ${why}`;
  if (delayMs === 0) return why && `due at once: ${why}`;
  return `due after ${duration(delayMs)}${why && `: ${why}`}`;
}

const HAPPENED: Readonly<Partial<Record<EventView["kind"], string>>> = {
  accepted: "sent",
  acked: "acknowledged",
};

/**
 * Says from when to when a story lacks events, and why.
 *
 * @param isAll whether the story has no events.
 */
export function gapText(
  { queue, reason, since, until, kinds }: StoryGapView,
  isAll: boolean,
  now: string,
): string {
  const to = until === null ? "" : moment(until, now);
  const span = since === until ? `at ${to}` : `from ${since === null ? "" : moment(since, now)} to ${to}`;
  switch (reason) {
    case "merged": {
      const what = (kinds ?? []).map((kind) => HAPPENED[kind] ?? kind);
      return (
        `More happened in ${queue} ${span} than is noted message by message. ` +
        (isAll
          ? "If this message was sent then, nothing else is known of it."
          : `It may have been ${what.join(" or ")} then.`)
      );
    }
    case "overwritten":
      return `What happened in ${queue} ${since === null ? `before ${to}` : span} is not kept any more.`;
    case "unknown": {
      const lost = "was not noted: a crash loses what went well just before";
      if (until !== null)
        return `What happened in ${queue} ${since === null ? `before ${to}` : span} ${lost}.`;
      if (since === null) return `The history of ${queue} does not name this message.`;
      return `The message is not in ${queue} any more. What became of it ${lost}.`;
    }
    case "off":
      return `Queue ${queue} keeps no history. In its configuration history = "1h" turns it on.`;
  }
}
