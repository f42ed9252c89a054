import type { FilterTerm, LookedAt, LookRequest, MessageFilter } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { AdminError } from "../failure.ts";

/** Fewest digits that name a message, if only one id begins with them: lists show as many. */
export const ID_DIGITS_MIN = 8;
/** Digits of a whole id. */
export const ID_LENGTH = 32;
/** Messages that are listed where the beginning of an id names several. */
const CANDIDATES_MAX = 10;

const ID_TEXT = `The id of a message has ${ID_LENGTH} hexadecimal digits. The first ${ID_DIGITS_MIN} are enough where no other id begins so.`;

/** Returns the digits of an id, or of at least `min` digits of its beginning; `null` for another text. */
export function idBeginning(text: string, min = ID_DIGITS_MIN): string | null {
  const digits = text.replaceAll("-", "").toLowerCase();
  const isLong = digits.length >= min && digits.length <= ID_LENGTH;
  return isLong && /^[0-9a-f]+$/.test(digits) ? digits : null;
}

/** Whether a term of a filter names one message by its whole id. */
export function isWholeId(term: FilterTerm): term is FilterTerm & { readonly field: "id" } {
  return term.field === "id" && idBeginning(term.prefix, ID_LENGTH) !== null;
}

/**
 * Finds a message by its id, the beginning of its id, or its ref. A search by id takes several calls, so that the queue
 * does other work in between. Throws 404, and 409 with the `ids` where several begin so.
 */
export async function messageOf(directory: QueueDirectory, queue: string, id: string): Promise<LookedAt> {
  const prefix = idBeginning(id);
  const found =
    prefix === null || prefix.length === ID_LENGTH
      ? await lookFor(directory, queue, { max: 1, only: [id], isWhole: true })
      : await findByPrefix(directory, queue, prefix, { isWhole: true });
  const whole = onlyId(queue, id, new Set(found.map((message) => message.id)));
  const message = found.find((one) => one.id === whole);
  if (message === undefined) throw messageGone(queue, id);
  return message;
}

/** As `messageOf`, for an action on a message that is in the queue. Throws 409 for a finished one. */
export async function unfinishedMessageOf(
  directory: QueueDirectory,
  queue: string,
  id: string,
): Promise<LookedAt> {
  const message = await messageOf(directory, queue, id);
  if (message.end === undefined) return message;
  const text = `Message "${message.id}" is finished: it has left queue "${queue}", and can be sent again.`;
  throw new AdminError(409, "message_finished", text);
}

/**
 * Finds the whole id of a message that is in a queue, or that its history names. Returns a whole id without a search.
 * Throws 400 for a text that is no id, 404, and 409 with the `ids` where several begin so.
 */
export async function wholeIdOf(directory: QueueDirectory, queue: string, id: string): Promise<string> {
  const prefix = idBeginning(id);
  if (prefix === null) {
    throw new AdminError(400, "invalid_id", ID_TEXT);
  }
  if (prefix.length === ID_LENGTH) return prefix;
  const [found, named] = await Promise.all([
    findByPrefix(directory, queue, prefix),
    directory.queue(queue).idsNamed(queue, prefix),
  ]);
  const whole = onlyId(queue, id, new Set([...found.map((message) => message.id), ...named]));
  if (whole === undefined) throw messageGone(queue, id);
  return whole;
}

export function messageGone(queue: string, id: string): AdminError {
  const gone = `Queue "${queue}" has no message "${id}" (any more).`;
  // A ref has other letters too, and gets no hint about ids.
  const isPart = /^[\da-f-]+$/i.test(id) && idBeginning(id) === null;
  return new AdminError(404, "message_not_found", isPart ? `${gone} ${ID_TEXT}` : gone);
}

/** Finds messages by the beginning of their ids: in the queue, and among the finished ones. */
async function findByPrefix(
  directory: QueueDirectory,
  queue: string,
  prefix: string,
  more: Pick<LookRequest, "isWhole"> = {},
): Promise<readonly LookedAt[]> {
  const filter: MessageFilter = [{ field: "id", prefix }];
  const ofFinished: MessageFilter = [...filter, { field: "state", state: "finished" }];
  const found = await Promise.all(
    [filter, ofFinished].map((terms) =>
      lookFor(directory, queue, { ...more, max: CANDIDATES_MAX, filter: terms }),
    ),
  );
  return found.flat();
}

async function lookFor(
  directory: QueueDirectory,
  queue: string,
  request: LookRequest,
): Promise<readonly LookedAt[]> {
  const found: LookedAt[] = [];
  let cursor: string | null = null;
  do {
    const from: Pick<LookRequest, "cursor"> = cursor === null ? {} : { cursor };
    const reply = await directory.queue(queue).look(queue, { ...request, ...from });
    found.push(...reply.messages);
    cursor = reply.cursor;
  } while (cursor !== null && found.length < request.max);
  return found;
}

function onlyId(queue: string, id: string, ids: ReadonlySet<string>): string | undefined {
  const [only, ...others] = ids;
  if (others.length === 0) return only;
  const text = `Several messages of queue "${queue}" have ids that begin with "${id}": ${[...ids].join(", ")}.`;
  throw new AdminError(409, "ambiguous_id", text, { ids: [...ids] });
}
