import { type LookRequest, MOVED_NAMES_MAX, type MoveSelection } from "@sluice/protocol";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { shownMessages } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { AdminError } from "../failure.ts";
import { checkedCursor, filterIn } from "./look-routes.ts";
import { type MessageView, messageView } from "./message-view.ts";

/** Members of a request that selects messages to act on. */
export const SELECTION = {
  filter: z.optional(z.string()),
  ids: z.optional(z.array(z.string()).check(z.maxLength(MOVED_NAMES_MAX))),
  limit: z.optional(z.int().check(z.gte(1))),
  dryRun: z.optional(z.boolean()),
  cursor: z.optional(z.string()),
};
export const SELECTION_TEXT = `"filter", "ids" (${MOVED_NAMES_MAX} at most), "limit" (1 or more) and "dryRun"`;

const selected = z.object(SELECTION);
type Selected = z.infer<typeof selected>;

/** Most messages that a dry run shows. */
const SHOWN_MAX = 20;

/** Answer of a dry run: nothing was done. */
export interface DryRun {
  readonly dryRun: true;
  /** Messages that the action would be done to; there may be more while `cursor` is not `null`. */
  readonly count: number;
  /** The first of them. */
  readonly messages: readonly MessageView[];
  /** Goes on counting where this one has ended; `null` when every message was looked at. */
  readonly cursor: string | null;
  readonly searched: number;
  readonly of: number;
}

/**
 * Reads which messages a request selects, within the rights of its caller. Throws 400 for a wrong filter, and for one of
 * finished messages.
 */
export function selectionOf({ filter, ids, limit }: Selected, rights: Rights): MoveSelection {
  const terms = filter === undefined ? undefined : filterIn(filter, rights);
  if (terms?.some((term) => term.field === "state" && term.state === "finished")) {
    throw new AdminError(400, "finished", "Finished messages have left the queue. Each can be sent again.");
  }
  return {
    ...(terms === undefined ? {} : { filter: terms }),
    ...(ids === undefined ? {} : { only: ids }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Prefix of the cursor of a request with a limit: the number of messages that the limit has left. */
const LEFT = /^([1-9]\d{0,15})\./;

/**
 * Reads where a request begins, and how many messages it may take: its limit, or what the cursor says is left of it.
 * Throws 400 for a cursor that is none.
 */
export function startOf({ limit = Infinity, cursor }: Pick<Selected, "limit" | "cursor">) {
  if (cursor === undefined) return { limit };
  const [prefix, left = Infinity] = LEFT.exec(cursor) ?? [""];
  return { limit: Math.min(limit, Number(left)), cursor: checkedCursor(cursor.slice(prefix.length)) };
}

/** Makes the cursor of an answer. @param place cursor of its last look. @param left rest of the limit. */
export function nextCursor(place: string, left: number): string {
  return left === Infinity ? place : `${left}.${place}`;
}

/** Shows and counts the messages that an action would be done to. @param from cursor of the request. */
export async function tryOut(
  directory: QueueDirectory,
  name: string,
  rights: Rights,
  { limit: asked, ...wanted }: MoveSelection & Pick<LookRequest, "returning" | "isWaiting">,
  from: string | undefined,
): Promise<DryRun> {
  const { limit, cursor } = startOf({ limit: asked, cursor: from });
  const { messages, matched, searched, of, ...found } = await directory
    .queue(name)
    .look(name, {
      ...wanted,
      countsAll: true,
      max: Math.min(SHOWN_MAX, limit),
      ...(cursor === undefined ? {} : { cursor }),
    });
  const count = Math.min(matched, limit);
  const next = count === limit || found.cursor === null ? null : nextCursor(found.cursor, limit - count);
  const shown = shownMessages(rights, messages).map(messageView);
  return { dryRun: true, count, messages: shown, cursor: next, searched, of };
}
