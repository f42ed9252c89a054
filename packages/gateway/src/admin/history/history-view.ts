import type {
  DelayReason,
  HistoryEvent,
  HistoryKind,
  LogLevel,
  MessagePast,
  PrintedLogs,
  StoryGap,
} from "@sluice/protocol";
import { timeOf } from "../time.ts";

/** One thing that happened, as the admin API shows it. Times are ISO 8601. */
export interface EventView {
  /**
   * Names the event among those of its queue; where the queue has no shards, it grows with every event. `null` for one
   * that is known from a dead letter alone.
   */
  readonly number: number | null;
  readonly kind: HistoryKind;
  readonly at: string;
  readonly queue: string;
  /** Messages that it happened to. */
  readonly messages: number;
  /** Ids of these, 100 at most; none where only their number is known. */
  readonly ids: readonly string[];
  /** Ids of the same messages in the queue that they went to, if these differ. */
  readonly otherIds: readonly string[];
  /** Name of the actor: a producer, a consumer, a client, or the queue that the messages came from. */
  readonly by: string | null;
  /** Where the messages went. */
  readonly to: string | null;
  /** Names the delivery among those of the queue. */
  readonly batch: number | null;
  /** Deliveries so far, this one included. */
  readonly attempt: number | null;
  readonly delayMs: number | null;
  readonly delayReason: DelayReason | null;
  /** Error that was thrown, with its stack, or the reason why it happened. */
  readonly error: string | null;
  readonly tookMs: number | null;
  /** Summary of events that were merged into this one; `tookMs` counts them by duration. */
  readonly merged: {
    readonly until: string;
    readonly events: number;
    readonly tookMs: readonly number[] | null;
  } | null;
  /** In a story: for how long delivery was paused since the event before, in ms. Absent for none. */
  readonly pausedMs?: number;
  /** In a story: by how much the clock was moved since the event before, in ms. Absent for none. */
  readonly movedMs?: number;
  /** Lines that a handler printed; absent if none. */
  readonly logs?: LogsView;
}

/** Lines that a handler printed during a delivery. */
export interface LogsView {
  readonly lines: readonly LogLineView[];
  /** Lines that were left out since there were too many. */
  readonly leftOut: number;
  /** Lines that were left out since deliveries that ran at the same time may have printed them. */
  readonly mixed: number;
  /** Whether other code of the Worker may have printed some of the lines. */
  readonly ofWorker: boolean;
}

export interface LogLineView {
  readonly at: string;
  readonly level: LogLevel;
  readonly text: string;
}

/** Why the story of a message may have gaps. */
export interface StoryGapView {
  readonly queue: string;
  readonly reason: StoryGap["reason"];
  /** Moment of the first event that may be missing; `null` if that is not known. */
  readonly since: string | null;
  readonly until: string | null;
  /** Kinds of the events that may be missing; `null` for any. */
  readonly kinds: readonly HistoryKind[] | null;
  /** Number of the message's event before the gap; `null` if the gap is before all of them, or anywhere. */
  readonly after: number | null;
}

export function eventView({ number, kind, atMs, merged, past: _, logs, ...rest }: HistoryEvent): EventView {
  return {
    number,
    kind,
    at: timeOf(atMs),
    ...rest,
    merged:
      merged === null
        ? null
        : { until: timeOf(merged.untilMs), events: merged.events, tookMs: merged.tookMs },
    ...(logs === undefined ? {} : { logs: logsView(logs) }),
  };
}

function logsView({ beganMs, lines, leftOut = 0, mixed = 0, ofWorker = false }: PrintedLogs): LogsView {
  return {
    lines: lines.map(({ afterMs, level, text }) => ({ at: timeOf(beganMs + afterMs), level, text })),
    leftOut,
    mixed,
    ofWorker,
  };
}

export function gapView(gap: StoryGap): StoryGapView {
  const { queue, reason, sinceMs = null, untilMs, kinds = null, after = null } = gap;
  return {
    queue,
    reason,
    since: sinceMs === null ? null : timeOf(sinceMs),
    until: untilMs === null ? null : timeOf(untilMs),
    kinds,
    after,
  };
}

const UNKNOWN = {
  number: null,
  messages: 1,
  otherIds: [],
  by: null,
  to: null,
  batch: null,
  attempt: null,
  delayMs: null,
  delayReason: null,
  error: null,
  tookMs: null,
  merged: null,
} as const;

/** Returns the past that a message has brought along of earlier queues, as events. */
export function pastEvents({ queue, id, sentMs, by, ends }: MessagePast): EventView[] {
  return [
    { ...UNKNOWN, kind: "accepted", at: timeOf(sentMs), queue, ids: [id], by },
    ...ends.map(
      ({ kind, atMs, attempts, error, ...end }): EventView => ({
        ...UNKNOWN,
        kind,
        at: timeOf(atMs),
        queue: end.queue,
        ids: [end.id],
        error,
        attempt: kind === "redriven" ? null : attempts,
      }),
    ),
  ];
}
