import {
  FIGURES_WINDOWS,
  type FiguresWindow,
  HISTORY_EVENTS_MAX,
  HISTORY_KINDS,
  type HistoryKind,
} from "@sluice/protocol";
import { type Context, Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { shownEvents } from "../../rights/other-queues.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError } from "../failure.ts";
import { wholeIdOf } from "../messages/find-message.ts";
import { queueOf } from "../queue-of.ts";
import { wholeQuery } from "../whole-query.ts";
import { figuresOver } from "./figures-view.ts";
import { eventView } from "./history-view.ts";
import { tellStory } from "./story.ts";

/** Events that are shown when the request names no number. */
export const SHOWN_EVENTS_DEFAULT = 100;

/** Routes of the history: of a queue, and of a message. */
export function historyRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/:name/history", async (c) => {
    const { name } = await queueOf(c, directory);
    const max = wholeQuery(c, "max", 1, HISTORY_EVENTS_MAX) ?? SHOWN_EVENTS_DEFAULT;
    const given = c.req.query("cursor") ?? "";
    // The cursor of a queue with shards has a place for each shard, joined by `_`.
    const isOfShards = /^(\d{1,16}|b|e0)(_(\d{1,16}|b|e0)){1,99}$/.test(given);
    const before = isOfShards ? undefined : wholeQuery(c, "cursor", 0, Number.MAX_SAFE_INTEGER);
    const kinds = kindsQuery(c);
    const { isOn, events, next, cursor } = await directory
      .queue(name)
      .history(name, {
        max,
        ...(before === undefined ? {} : { before }),
        ...(isOfShards ? { cursor: given } : {}),
        ...(kinds === undefined ? {} : { kinds }),
      });
    return c.json({
      isOn,
      events: shownEvents(rightsOf(c), events).map(eventView),
      cursor: cursor ?? (next === null ? null : String(next)),
    });
  });

  app.get("/:name/figures", async (c) => {
    const { name } = await queueOf(c, directory);
    return c.json(figuresOver(await directory.queue(name).figures(name, { window: windowQuery(c) })));
  });

  app.get("/:name/messages/:id/story", async (c) => {
    const { name } = await queueOf(c, directory);
    const id = await wholeIdOf(directory, name, c.req.param("id"));
    return c.json(await tellStory(directory, { queue: name, id }));
  });

  return app;
}

/** Reads the kinds of events that the query names, repeated or with commas; `undefined` for none. Throws 400. */
export function kindsQuery(c: Context): HistoryKind[] | undefined {
  const named = (c.req.queries("kind") ?? []).flatMap((text) => text.split(","));
  if (named.length === 0) return undefined;
  const known = named.filter((name) => HISTORY_KINDS.some((kind) => kind === name)) as HistoryKind[];
  if (known.length === named.length) return known;
  const text = `The query parameter "kind" must be one of ${HISTORY_KINDS.join(", ")}.`;
  throw new AdminError(400, "invalid_query", text);
}

/** Reads the window that the query names. Default: an hour. Throws 400. */
function windowQuery(c: Context): FiguresWindow {
  const named = c.req.query("window") ?? "1h";
  const windows = Object.keys(FIGURES_WINDOWS) as FiguresWindow[];
  const window = windows.find((known) => known === named);
  if (window !== undefined) return window;
  throw new AdminError(
    400,
    "invalid_query",
    `The query parameter "window" must be one of ${windows.join(", ")}.`,
  );
}
