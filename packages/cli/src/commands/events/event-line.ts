import type { EventView } from "@sluice/gateway/views";
import type { Colour, Look } from "@sluice/local/report/table";
import { errorLine } from "@sluice/protocol/stack";
import { duringBatch, missingLines, plural, printable, span } from "@sluice/protocol/words";

/** Formats an event as a line, and below it, indented, the lines that a handler printed. */
export function eventLines(event: EventView, look: Look): string[] {
  const { logs } = event;
  if (logs === undefined) return [eventLine(event, look)];
  return [
    eventLine(event, look),
    ...logs.lines.flatMap(({ at, level, text }) =>
      text.split("\n").map((line, i) => `  ${i === 0 ? `${at}  ${level}` : ""}  ${printable(line)}`),
    ),
    ...missingLines(logs).map((text) => `  ${text}`),
  ];
}

const COLOURS: Readonly<Partial<Record<EventView["kind"], Colour>>> = {
  failed: "red",
  deadLettered: "red",
  dropped: "red",
  retried: "yellow",
};

/** Formats an event as a line: time, queue, kind, messages, and details. */
function eventLine(event: EventView, { paint }: Look): string {
  const colour = COLOURS[event.kind];
  const line = plainLine(event);
  return colour === undefined || paint === undefined ? line : paint(colour, line);
}

function plainLine(event: EventView): string {
  const { at, queue, kind, error } = event;
  const facts = factsOf(event).join(", ");
  const reason = error === null ? "" : `: ${printable(errorLine(error))}`;
  return `${at}  ${queue}  ${kind}  ${subjectOf(event)}${facts === "" ? "" : ` (${facts})`}${reason}`;
}

/** Names the messages of an event. For an event without messages, says what happened. */
function subjectOf(event: EventView): string {
  const { kind, messages, ids, delayMs, logs } = event;
  const [first] = ids;
  const which = messages === 1 && first !== undefined ? first : plural(messages, "message");
  switch (kind) {
    case "paused":
      return "delivery was paused";
    case "resumed":
      return "delivery was resumed";
    case "clockMoved":
      return `the clock was moved forward by ${exactSpan(delayMs ?? 0)}`;
    case "faulted":
      return `a fault acted on the delivery of ${which}`;
    case "printed":
      return (logs && duringBatch(messages)) || which;
    default:
      return which;
  }
}

function factsOf(event: EventView): string[] {
  const { kind, by, to, attempt, delayMs, tookMs, merged, logs, pausedMs, movedMs } = event;
  return [
    by === null ? null : `by ${by}`,
    to === null ? null : `to ${to}`,
    attempt === null ? null : `attempt ${attempt}`,
    delayMs === null || delayMs === 0 || kind === "clockMoved"
      ? null
      : `${kind === "retried" ? "again in" : "due in"} ${span(delayMs)}`,
    tookMs === null ? null : `${tookMs.toLocaleString("en")} ms`,
    pausedMs === undefined ? null : `paused for ${exactSpan(pausedMs)} before that`,
    movedMs === undefined ? null : `clock moved by ${exactSpan(movedMs)} before that`,
    kind === "printed" && merged !== null ? "too much happened in this second, the lines are not kept" : null,
    logs?.ofWorker === true ? "perhaps by other code of its Worker" : null,
    merged === null ? null : `${plural(merged.events, "event")} until ${merged.until}`,
  ].filter((fact) => fact !== null);
}

/** Formats a span of time, below a minute with its milliseconds: `3.8 s`. */
function exactSpan(ms: number): string {
  return ms < 60_000 ? `${ms / 1_000} s` : span(ms);
}
