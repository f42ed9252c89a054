import type { QueueRecord } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { mayUse, type Rights } from "../../rights/rights.ts";
import { inParallel } from "../in-parallel.ts";
import { idBeginning, isWholeId } from "../messages/find-message.ts";
import { filterIn } from "../messages/look-routes.ts";
import { type QueueResult, SHOWN_MAX, searchQueue, type Wanted } from "./search-queue.ts";
import type { FoundView, GoneView, SearchView } from "./search-view.ts";

/** Queues that are searched at the same time. */
export const SEARCHED_AT_ONCE = 16;
/** Fewest digits that are looked for as the beginning of an id. A shorter text is looked for as a text alone. */
export const SEARCHED_DIGITS_MIN = 4;
/** How long a queue is searched, in ms. */
export const QUEUE_MS_MAX = 2_000;
/** How long all queues are searched, in ms. A call that is under way is still waited for. */
export const SEARCH_MS_MAX = 5_000;

/**
 * Looks for a text in all queues that the caller may read: as a filter of messages, in the names of queues and topics,
 * and, if it is an id or the beginning of one, among finished messages and those that histories name.
 *
 * @param elapsedMs clock in ms.
 * @param isOfNames whether names alone are searched, which asks no queue. Default false.
 * @throws AdminError with 400 for a filter that cannot be read.
 */
export async function searchAll(
  directory: QueueDirectory,
  rights: Rights,
  text: string,
  elapsedMs: () => number,
  isOfNames = false,
): Promise<SearchView> {
  const wanted = isOfNames ? { filters: [], beginning: null } : wantedOf(text, rights);
  const endsMs = elapsedMs() + SEARCH_MS_MAX;
  const [all, topics] = await Promise.all([
    directory.account.list(),
    rights.queues.length === 0 ? directory.topics.listTopics() : [],
  ]);
  const records = all.filter(({ name }) => mayUse(rights, name));
  const search = async ({ name }: QueueRecord): Promise<QueueResult> => {
    const queueEndsMs = Math.min(endsMs, elapsedMs() + QUEUE_MS_MAX);
    const isOver = () => elapsedMs() >= queueEndsMs;
    const nothing = { found: [], gone: [], unfinished: { queue: name, searched: 0, of: null } };
    if (isOver()) return nothing;
    return searchQueue(directory, rights, name, wanted, isOver).catch((error) => {
      console.error(`Queue "${name}" did not answer a search: ${error}`);
      return nothing;
    });
  };
  const results = await inParallel(isOfNames ? [] : records, SEARCHED_AT_ONCE, search);
  const hasText = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const arns = topics.map(({ arn }) => arn).filter((arn) => hasText(arn.slice(arn.lastIndexOf(":") + 1)));
  const messages = results.flatMap(({ found }) => found);
  return {
    queues: records
      .map(({ name }) => name)
      .filter(hasText)
      .slice(0, SHOWN_MAX),
    topics: arns.slice(0, SHOWN_MAX),
    messages,
    gone: goneOnce(
      results.flatMap(({ gone }) => gone),
      messages,
    ),
    unfinished: results.flatMap(({ unfinished }) => unfinished ?? []),
  };
}

/** Leaves out messages that were found in a queue, and shows one that was in several queues by its last event alone. */
function goneOnce(gone: readonly GoneView[], found: readonly FoundView[]): GoneView[] {
  const here = new Set(found.flatMap(({ messages }) => messages.map(({ id }) => id)));
  const byId = new Map<string, GoneView>();
  for (const one of gone) {
    const known = byId.get(one.id);
    if (!here.has(one.id) && (known === undefined || known.last.at < one.last.at)) byId.set(one.id, one);
  }
  return [...byId.values()];
}

/** Makes the filters of a text. Looks for an id also as a text, since bodies hold ids of other things. */
function wantedOf(text: string, rights: Rights): Wanted {
  const filter = filterIn(text, rights);
  const [term, ...more] = filter;
  const written = [{ text, filter }];
  if (term?.field === "id" && more.length === 0) {
    const { prefix, value = prefix, isQuoted = false } = term;
    const inBodies = {
      text: `body.${text}`,
      filter: [{ field: "json" as const, name: "id", value, isQuoted }],
    };
    // The filter of a whole id reads no bodies, so bodies have a filter of their own.
    const filters = isWholeId(term) ? [...written, inBodies] : written;
    return { filters, beginning: idBeginning(prefix, SEARCHED_DIGITS_MIN) };
  }
  const beginning = idBeginning(text, SEARCHED_DIGITS_MIN);
  if (beginning === null) return { filters: written, beginning };
  const byId = { text: `id:${beginning}`, filter: [{ field: "id" as const, prefix: beginning }] };
  return { filters: [byId, ...written], beginning };
}
