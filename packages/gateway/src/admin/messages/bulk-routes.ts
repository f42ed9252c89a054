import { type MessageFilter, PULL_MESSAGES_MAX } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError } from "../failure.ts";
import { queueOf } from "../queue-of.ts";
import { countsAnew } from "./look-routes.ts";
import { readBody } from "./read-body.ts";
import { nextCursor, SELECTION, SELECTION_TEXT, selectionOf, startOf, tryOut } from "./selection.ts";

/** Body of a request that acts on many messages. */
export const bulkBody = z.strictObject(SELECTION);
const BODY_TEXT = `The body must be an object with "filter" or "ids", and any of ${SELECTION_TEXT}.`;

/**
 * Most looks of one request. A look is one call that searches for up to `PULL_MESSAGES_MAX` messages, and a second call
 * acts on them. On Cloudflare's free plan a Worker may make 50 calls in a request.
 */
export const LOOKS_PER_REQUEST_MAX = 20;

/** An action on messages of a queue. */
interface BulkAction {
  /** Name of the member of the answer that counts the messages that were acted on. */
  readonly counted: string;
  /** Terms besides those of the request. */
  readonly filter: MessageFilter;
  /** @returns the number of messages that were acted on. */
  readonly act: (directory: QueueDirectory, queue: string, refs: readonly string[]) => Promise<number>;
}

/** Retries delayed messages only: a leased one would be delivered twice. */
const RETRY: BulkAction = {
  counted: "due",
  filter: [{ field: "state", state: "delayed" }],
  act: async (directory, queue, refs) => {
    const made = await directory.queue(queue).makeDue(queue, refs);
    return made.filter((outcome) => outcome === "due").length;
  },
};

const DELETE: BulkAction = {
  counted: "deleted",
  filter: [],
  act: async (directory, queue, refs) => (await directory.queue(queue).deleteByRefs(queue, refs)).deleted,
};

/** Routes of actions by hand on many messages: those that fit a filter, or are named. */
export function bulkRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  app.post("/:name/messages/retry", (c) => actOnMany(c, directory, RETRY));
  app.post("/:name/messages/delete", (c) => actOnMany(c, directory, DELETE));
  return app;
}

/**
 * Acts on the messages of up to `LOOKS_PER_REQUEST_MAX` looks, and answers with the cursor of the next request. A dry
 * run only counts the messages.
 */
async function actOnMany(c: Context, directory: QueueDirectory, { counted, filter, act }: BulkAction) {
  const { name } = await queueOf(c, directory);
  const { dryRun = false, cursor, ...selected } = await readBody(c, bulkBody, BODY_TEXT);
  // A request that selects nothing by mistake must not act on every message.
  if (selected.filter === undefined && selected.ids === undefined) {
    throw new AdminError(400, "invalid_body", BODY_TEXT);
  }
  const selection = selectionOf(selected, rightsOf(c));
  const wanted = { ...selection, filter: [...(selection.filter ?? []), ...filter] };
  if (dryRun) {
    c.set("changed", null);
    return c.json(await tryOut(directory, name, rightsOf(c), wanted, cursor));
  }
  const { limit: asked, ...search } = wanted;
  const { limit, cursor: start } = startOf({ limit: asked, cursor });
  let done = 0;
  let searched = 0;
  /** Messages of the queue when the request began. */
  let held: number | null = null;
  let at = start === undefined ? undefined : countsAnew(start);
  for (let looks = 1; ; looks++) {
    const max = Math.min(PULL_MESSAGES_MAX, limit - done);
    const found = await directory
      .queue(name)
      .look(name, { ...search, max, ...(at === undefined ? {} : { cursor: at }) });
    searched += found.searched;
    held ??= found.of;
    const refs = found.messages.map(({ ref }) => ref);
    if (refs.length > 0) done += await act(directory, name, refs);
    const place = done >= limit ? null : found.cursor;
    if (place === null || looks === LOOKS_PER_REQUEST_MAX) {
      // Messages may have come meanwhile.
      const of = Math.max(held, searched);
      const next = place === null ? null : nextCursor(place, limit - done);
      return c.json({ [counted]: done, cursor: next, searched, of });
    }
    at = countsAnew(place);
  }
}
