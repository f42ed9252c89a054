import { plural } from "@sluice/protocol/words";
import type { EventView } from "../api/call.ts";
import { duration } from "../text/format.ts";

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
  /** Wait between the step before and this one; `null` for none. */
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
 * Puts each event of a message into words, with the wait before it.
 *
 * @param isWhole whether the story has no gaps. Only then attempts are counted, by the deliveries in it: the `attempt`
 *   of an event is that of the first message of its batch, which may be another message.
 */
export function storySteps(events: readonly EventView[], isWhole: boolean): StoryStep[] {
  const attempts = attemptsOf(events);
  return events.map((event, i) => {
    const before = events[i - 1];
    const counted = isWhole ? (attempts[i] ?? null) : null;
    return {
      key: `${event.queue} ${event.number ?? event.at} ${event.kind}`,
      at: event.at,
      queue: event.queue,
      // The messages of a dead-letter event all have the same attempts.
      ...wordsOf({ ...event, attempt: event.kind === "deadLettered" ? event.attempt : counted }),
      error: event.error,
      wait: before === undefined ? null : waitBetween(before, event),
    };
  });
}

/** Returns the attempt that each event belongs to; `null` before the first. Counting begins anew in each queue. */
function attemptsOf(events: readonly EventView[]): (number | null)[] {
  let attempt = 0;
  return events.map(({ kind, delayReason }) => {
    if (kind === "accepted" || kind === "arrived") attempt = 0;
    else if (kind === "delivered") attempt++;
    const belongsTo = attempt === 0 ? null : attempt;
    // No consumer was there: this event still belongs to that delivery, and the next one gets its number again.
    if (kind === "retried" && delayReason === "absence") attempt--;
    return belongsTo;
  });
}

function waitBetween(before: EventView, { at, kind }: EventView): StoryWait | null {
  const ms = Date.parse(at) - Date.parse(before.at);
  if (ms <= 0) return null;
  const isWork = before.kind === "delivered" && kind !== "delivered";
  return { text: `${isWork ? "worked on for" : "waited"} ${duration(ms)}`, isLong: !isWork && ms >= LONG_MS };
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
  }
}

function attemptText(attempt: number | null): string {
  return attempt === null ? "" : `attempt ${attempt}`;
}

function delayText({ delayMs, delayReason }: EventView): string {
  const why = delayReason === null ? "" : DELAY_REASONS[delayReason];
  if (delayMs === null || delayMs === 0) return why;
  return `due after ${duration(delayMs)}${why === "" ? "" : `: ${why}`}`;
}
