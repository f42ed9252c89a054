import type {
  ErrorsView,
  MessageView,
  QueueView,
  QueueWhyView,
  SearchView,
  WholeMessageView,
} from "@sluice/gateway/views";
import type { BrokerClient } from "./broker-client.ts";
import { planOf, queuePath, type Selection } from "./queues.ts";

/** Most messages that one request answers. */
export const PAGE_MESSAGES_MAX = 100;

/** A page of a queue's messages in any state. */
export interface MessagePage<T extends MessageView = MessageView> {
  readonly messages: readonly T[];
  /** Cursor of the next page; `null` at the end. */
  readonly cursor: string | null;
  /** Number of messages searched so far, those for the pages before included. */
  readonly searched: number;
  /** Number of messages in the queue. */
  readonly of: number;
  /** Number of finished messages; absent where none are kept. */
  readonly finished?: number;
}

interface PageQuery {
  /** Filter terms, as in `docs/admin-api.md`. */
  readonly filter: string;
  /** 1 to `PAGE_MESSAGES_MAX`. */
  readonly max: number;
  /** Default: the beginning. */
  readonly cursor: string | null;
}

/** Reads messages of a queue without leasing them or counting an attempt. A page can be empty and have a cursor. */
export function pageOfMessages(client: BrokerClient, queue: string, query: PageQuery): Promise<MessagePage> {
  return client.admin({ path: queuePath(queue, `/messages?${parametersOf(query)}`) });
}

/** Counts the finished messages that a queue keeps. */
export async function finishedOf(client: BrokerClient, { name, settings }: QueueView): Promise<number> {
  // A broker of an older release has no such setting.
  if ((settings.finishedMessages ?? 0) === 0) return 0;
  // A page as large as the greatest number of shards reads each shard.
  const page = { filter: "", max: PAGE_MESSAGES_MAX, cursor: null };
  const { finished = 0 } = await pageOfMessages(client, name, page);
  return finished;
}

/** Reads messages as `pageOfMessages` does, with whole bodies. */
export function pageOfWholeMessages(
  client: BrokerClient,
  queue: string,
  query: PageQuery,
): Promise<MessagePage<WholeMessageView>> {
  return client.admin({ path: queuePath(queue, `/messages?${parametersOf(query)}&whole=true`) });
}

/**
 * Reads one message with all of its body, by its id, the beginning of its id, or its ref.
 *
 * @throws BrokerFailure with `EXIT_NOT_FOUND`
 */
export function messageOf(client: BrokerClient, queue: string, id: string): Promise<WholeMessageView> {
  return client.admin({ path: messagePath(queue, id) });
}

/** The beginning of an id. A whole id has 32 digits. */
const ID_BEGINNING = /^[0-9a-f]{8,31}$/i;

/**
 * Looks up the whole ids of messages that are named by the beginnings of their ids. Whole ids and refs stay as they are.
 *
 * @throws BrokerFailure with `EXIT_NOT_FOUND` for a beginning of no message's id, with `EXIT_USAGE` for one of several.
 */
export async function wholeIdsOf(
  client: BrokerClient,
  queue: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const whole: string[] = [];
  for (const id of ids) whole.push(ID_BEGINNING.test(id) ? (await messageOf(client, queue, id)).id : id);
  return whole;
}

/** Counts the named messages that were not found, after a command with this limit has acted on `done` messages. */
export function missingOf(ids: readonly string[], limit: number | undefined, done: number): number {
  return Math.max(0, Math.min(new Set(ids).size, limit ?? Number.POSITIVE_INFINITY) - done);
}

/** Counts the messages of a queue that match a filter, grouped by their last errors. */
export function errorsOf(client: BrokerClient, queue: string, filter = ""): Promise<ErrorsView> {
  return client.admin({ path: queuePath(queue, `/errors?${new URLSearchParams({ filter })}`) });
}

/** Looks for a text in all queues. */
export function searchAll(client: BrokerClient, text: string): Promise<SearchView> {
  return client.admin({ path: `/search?${new URLSearchParams({ q: text })}` });
}

/** Reads why a queue delivers nothing more now. */
export function whyOfQueue(client: BrokerClient, queue: string): Promise<QueueWhyView> {
  return client.admin({ path: queuePath(queue, "/why") });
}

function parametersOf({ filter, max, cursor }: PageQuery): URLSearchParams {
  return new URLSearchParams({ max: `${max}`, filter, ...(cursor === null ? {} : { cursor }) });
}

/** A message of a batch, in the shape in which the API shows messages. The broker validates it. */
export type BatchMessage = Readonly<Record<string, unknown>>;

/**
 * Sends up to 100 messages, all of them or none.
 *
 * @returns their ids, in order.
 * @throws BrokerFailure, with the `index` of a message that is refused.
 */
export async function sendBatch(
  client: BrokerClient,
  queue: string,
  messages: readonly BatchMessage[],
): Promise<readonly string[]> {
  const path = queuePath(queue, "/messages/batch");
  const { ids } = await client.admin<{ ids: string[] }>({ method: "POST", path, body: { messages } });
  return ids;
}

/** Sample of an event that one of Cloudflare's products sends to queues. */
export interface EventSample {
  readonly name: string;
  readonly body: unknown;
}

/** Reads a sample of each kind of event. */
export async function samplesOfEvents(
  client: BrokerClient,
  patienceMs?: number,
): Promise<readonly EventSample[]> {
  const request = { path: "/event-samples", ...(patienceMs === undefined ? {} : { patienceMs }) };
  const { samples } = await client.admin<{ samples: EventSample[] }>(request);
  return samples;
}

/** Changes to a message that is sent again. */
export interface ResendChange {
  /** The queue that takes the copy. Default: the message's own. */
  readonly to?: string;
  /** Body of `json` or `text`. Default: as it was. */
  readonly text?: string;
  /** Body of `bytes` in base64. Default: as it was. */
  readonly body?: string;
  readonly contentType?: "json" | "text" | "bytes";
  readonly delaySeconds?: number;
}

/** Sends a copy of a message. The message stays. */
export function resendMessage(
  client: BrokerClient,
  queue: string,
  id: string,
  change: ResendChange,
): Promise<{ readonly queue: string; readonly id: string }> {
  return client.admin({ method: "POST", path: messagePath(queue, id, "/resend"), body: change });
}

/** Makes a message due now, by ending its delay or its lease. */
export function retryMessage(
  client: BrokerClient,
  queue: string,
  id: string,
): Promise<{ readonly id: string; readonly wasDue: boolean }> {
  return client.admin({ method: "POST", path: messagePath(queue, id, "/retry") });
}

export function deleteMessage(
  client: BrokerClient,
  queue: string,
  id: string,
): Promise<{ readonly id: string; readonly deleted: boolean }> {
  return client.admin({ method: "DELETE", path: messagePath(queue, id) });
}

/** Actions on many messages, each with the member of the answer that counts the messages. */
const BULK = { retry: "due", delete: "deleted" } as const;
export type BulkAction = keyof typeof BULK;

/** Counts the messages that an action would affect, without acting. */
export function planMany(client: BrokerClient, queue: string, action: BulkAction, request: Selection) {
  return planOf(client, queuePath(queue, `/messages/${action}`), request);
}

/**
 * Acts on many messages, in as many requests as that takes.
 *
 * @param progress called after each request with the number of messages that are done so far.
 */
export async function actOnMany(
  client: BrokerClient,
  queue: string,
  action: BulkAction,
  { limit, ...request }: Selection,
  progress: (done: number) => void,
): Promise<void> {
  const path = queuePath(queue, `/messages/${action}`);
  let done = 0;
  let cursor: string | null = null;
  do {
    const rest = limit === undefined ? {} : { limit: limit - done };
    const body = { ...request, ...rest, ...(cursor === null ? {} : { cursor }) };
    const answer: { cursor: string | null; due?: number; deleted?: number } = await client.admin({
      method: "POST",
      path,
      body,
    });
    done += answer[BULK[action]] ?? 0;
    cursor = answer.cursor;
    progress(done);
  } while (cursor !== null);
}

function messagePath(queue: string, id: string, below = ""): string {
  return queuePath(queue, `/messages/${encodeURIComponent(id)}${below}`);
}
