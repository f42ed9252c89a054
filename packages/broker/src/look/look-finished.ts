import type { MessagePosition } from "@sluice/engine";
import type { LookedAt, LookReply, LookRequest, Why } from "@sluice/protocol";
import type { FinishedMessage } from "../history/finished/finished.ts";
import type { Ending } from "../history/finished/finished-row.ts";
import type { History } from "../history/history.ts";
import type { QueueContext } from "../turn/context.ts";
import { ErrorTally } from "./error-tally.ts";
import { earlierErrorOf, lastErrorOf } from "./last-error.ts";
import { checkMax, cursorOf, readCursor, refOf, storedFacts, WHOLE_BYTES_MAX } from "./look.ts";
import { extensionOf, Matcher } from "./matcher.ts";

type FinishedContext = Pick<QueueContext, "name" | "nowMs" | "history">;

/** Whether a request asks for finished messages, which no other list has. */
export function asksForFinished({ filter = [], isWaiting = false }: LookRequest): boolean {
  return !isWaiting && filter.some((term) => term.field === "state" && term.state === "finished");
}

/**
 * Lists the finished messages that a request looks for, newest first. Behind a cursor whose message has been
 * overwritten there are none.
 *
 * @throws RangeError for a `max` that is out of range or an invalid cursor.
 */
export function lookAtFinished({ name, nowMs, history }: FinishedContext, request: LookRequest): LookReply {
  const { max, filter, only, cursor, countsAll = false, countsErrors = false, isWhole = false } = request;
  checkMax(max);
  const begin = cursor === undefined ? null : readCursor(cursor);
  const matcher = new Matcher(name, nowMs, filter, only);
  const messages: LookedAt[] = [];
  const tally = countsErrors ? new ErrorTally() : null;
  let matched = 0;
  let shownBytes = 0;
  let searched = begin?.searched ?? 0;
  let isBehind = begin === null;
  let last: MessagePosition | null = null;
  let next: string | null = null;
  for (const message of history.finished.list()) {
    const { ending, index, payload, at } = message;
    const position = { segmentId: ending.segmentId, index };
    if (!isBehind) {
      isBehind = position.segmentId === begin?.after.segmentId && index === begin.after.index;
      continue;
    }
    if (!countsAll && (messages.length >= max || shownBytes > WHOLE_BYTES_MAX)) {
      next = last && cursorOf(last, searched);
      break;
    }
    searched += 1;
    last = position;
    const { attempts } = ending;
    const lastError = () => lastErrorIn(history, message);
    const isFound =
      matcher.fitsRange({ state: "finished", attempts }) &&
      matcher.fitsPlace(position, extensionOf(payload, at).groupId ?? null) &&
      matcher.mayFit(position, payload, at) &&
      matcher.fits(payload, at, lastError);
    if (!isFound) continue;
    matched += 1;
    tally?.add(lastError());
    if (messages.length >= max) continue;
    messages.push(lookedAt(name, message, lastError(), isWhole));
    shownBytes += isWhole ? payload.bodyBytes(at) : 0;
  }
  const of = history.finished.count;
  return {
    messages,
    matched,
    cursor: next,
    nowMs,
    searched: next === null ? of : Math.min(searched, of),
    of,
    finished: of,
    ...(tally === null ? {} : { errors: tally.counts }),
  };
}

/** Returns the error that a message was given up for, else that of its last delivery that failed for it. */
function lastErrorIn(history: History, { ending, index, payload, at }: FinishedMessage): string | null {
  const { kind, segmentId, attempts, error = null } = ending;
  if (kind === "acked")
    return history.failures.errorBefore(attempts, segmentId, index) ?? earlierErrorOf(payload, at);
  return error ?? lastErrorOf({ history }, { segmentId, index }, attempts, payload, at);
}

function lookedAt(
  queue: string,
  { ending, index, payload, at }: FinishedMessage,
  lastError: string | null,
  isWhole: boolean,
): LookedAt {
  const { kind, t, segmentId, attempts, by = null, error = null } = ending;
  return {
    ...storedFacts(payload, at, isWhole),
    ref: refOf(queue, { segmentId, index }),
    state: "finished",
    attempts,
    atMs: t,
    keptUntilMs: t,
    lastError,
    why: whyOf(ending),
    end: { kind, atMs: t, by, error },
  };
}

/** Explains an end in the broker's own words: `end.error` has what the handler has thrown. */
function whyOf({ kind, by = "its consumer" }: Ending): Why {
  const texts = {
    acked: `It was handled: ${by} acknowledged it.`,
    deleted: "It was deleted by hand.",
    expired: "It was deleted because the queue had kept it for its retention period.",
    dropped: "It was given up, and there is no dead-letter queue.",
  };
  return { reason: "finished", text: texts[kind], untilMs: null, by: kind === "acked" ? by : null };
}
