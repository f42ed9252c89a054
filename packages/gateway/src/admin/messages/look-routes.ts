import {
  type ErrorCounts,
  type MessageFilter,
  PULL_MESSAGES_MAX,
  parseFilter,
  type Why,
} from "@sluice/protocol";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { allowedFilter, shownAlert, shownMessages } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError } from "../failure.ts";
import { queueOf } from "../queue-of.ts";
import { timeOf } from "../time.ts";
import { wholeQuery } from "../whole-query.ts";
import { messageOf } from "./find-message.ts";
import { messageView, singleMessageView, wholeMessageView, whyView } from "./message-view.ts";

/** Messages that are shown when the request names no number. */
export const SHOWN_MESSAGES_DEFAULT = 20;

/** Messages that fit a filter, counted by their last errors, in the time of one look. */
export interface ErrorsView extends ErrorCounts {
  /** Messages that fit, of those that were looked at. */
  readonly matched: number;
  /** Messages that were looked at: less than `of` where time was over. */
  readonly searched: number;
  /** Messages of the queue. */
  readonly of: number;
}

/** Routes that show the messages of a queue, in any state, and why they are not delivered. */
export function lookRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/:name/messages", async (c) => {
    const { name } = await queueOf(c, directory);
    const max = wholeQuery(c, "max", 1, PULL_MESSAGES_MAX) ?? SHOWN_MESSAGES_DEFAULT;
    const filter = filterIn(c.req.query("filter") ?? "", rightsOf(c));
    const cursor = c.req.query("cursor");
    const isWhole = c.req.query("whole") === "true";
    const request = {
      max,
      filter,
      ...(isWhole ? { isWhole } : {}),
      ...(cursor === undefined ? {} : { cursor: checkedCursor(cursor) }),
    };
    const { messages, ...found } = await directory.queue(name).look(name, request);
    const { searched, of, finished } = found;
    return c.json({
      messages: shownMessages(rightsOf(c), messages).map((message) =>
        isWhole ? wholeMessageView(message) : messageView(message),
      ),
      cursor: found.cursor,
      ...(found.nowMs === undefined ? {} : { now: timeOf(found.nowMs) }),
      searched,
      of,
      ...(finished === undefined ? {} : { finished }),
    });
  });

  app.get("/:name/messages/:id", async (c) => {
    const { name } = await queueOf(c, directory);
    const message = await messageOf(directory, name, c.req.param("id"));
    const [shown = message] = shownMessages(rightsOf(c), [message]);
    return c.json(singleMessageView(shown, directory.traceUrl));
  });

  app.get("/:name/errors", async (c) => {
    const { name } = await queueOf(c, directory);
    const filter = filterIn(c.req.query("filter") ?? "", rightsOf(c));
    const request = { max: 0, filter, countsAll: true, countsErrors: true };
    const { matched, searched, of, errors } = await directory.queue(name).look(name, request);
    const counts: ErrorsView = {
      ...(errors ?? { groups: [], others: 0, none: matched }),
      matched,
      searched,
      of,
    };
    return c.json(counts);
  });

  app.get("/:name/why", async (c) => {
    const { name } = await queueOf(c, directory);
    const why = await directory.queue(name).why(name);
    const shown = (one: Why) => ({ ...whyView(one), text: shownAlert(rightsOf(c), one.text) });
    const { messages } = why;
    return c.json({ ...shown(why), also: why.also.map(shown), ...(messages && { messages }) });
  });

  return app;
}

/** Reads a filter, within the rights of the caller. Throws 400 with the column of the fault. */
export function filterIn(text: string, rights: Rights): MessageFilter {
  const parsed = parseFilter(text);
  if (parsed.ok) return allowedFilter(rights, parsed.filter);
  const { column, message } = parsed;
  throw new AdminError(400, "invalid_filter", `Column ${column} of the filter: ${message}`, { column });
}

/**
 * Cursor of a list of messages: one place, or one for each shard of a queue. A place is that of a message, or `b` for
 * the beginning of a shard's list, or `e` for its end, both with the number of its messages (`b` only where known).
 */
const PLACES =
  /^(\d{1,16}-\d{1,10}-\d{1,15}|b\d{0,15}|e\d{1,15})(_(\d{1,16}-\d{1,10}-\d{1,15}|b\d{0,15}|e\d{1,15})){0,99}$/;

/**
 * Sets the number of searched messages in a cursor to 0, and removes what the shards held. A look caps its number at
 * what the queue still holds, so after deletions a number that went on from the look before would be too low.
 */
export function countsAnew(cursor: string): string {
  return cursor.replaceAll(/b\d+/g, "b").replaceAll(/\d+(?=_|$)/g, "0");
}

/** Returns the cursor. Throws 400 for a text that is none. */
export function checkedCursor(cursor: string): string {
  if (PLACES.test(cursor)) return cursor;
  throw new AdminError(
    400,
    "invalid_cursor",
    "The cursor must be one that a list of messages was answered with.",
  );
}
