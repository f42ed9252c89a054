import type { MessageView, QueueWhyView, WholeMessageView } from "@sluice/gateway/views";
import type { BrokerClient } from "./broker-client.ts";
import { queuePath } from "./queues.ts";

/** Most messages that one request answers. */
export const PAGE_MESSAGES_MAX = 100;

/** A page of a queue's messages, in whatever state they are. */
export interface MessagePage<T extends MessageView = MessageView> {
  readonly messages: readonly T[];
  /** Where the next page begins; `null` at the end. */
  readonly cursor: string | null;
  /** Messages that were looked at, by the pages before it too. */
  readonly searched: number;
  /** Messages of the queue. */
  readonly of: number;
}

export interface PageQuery {
  /** Terms that a message has to fit, as `docs/admin-api.md` has them. */
  readonly filter: string;
  /** 1 to `PAGE_MESSAGES_MAX`. */
  readonly max: number;
  /** Default: the beginning. */
  readonly cursor: string | null;
}

/** Messages of a queue. Nothing is leased or counted. A page can be empty and have a cursor. */
export function pageOfMessages(client: BrokerClient, queue: string, query: PageQuery): Promise<MessagePage> {
  return client.admin({ path: queuePath(queue, `/messages?${parametersOf(query)}`) });
}

/** As `pageOfMessages`, with whole bodies. */
export function pageOfWholeMessages(
  client: BrokerClient,
  queue: string,
  query: PageQuery,
): Promise<MessagePage<WholeMessageView>> {
  return client.admin({ path: queuePath(queue, `/messages?${parametersOf(query)}&whole=true`) });
}

/**
 * One message with all of its body, by its id or its ref.
 *
 * @throws BrokerFailure with `EXIT_NOT_FOUND`
 */
export function messageOf(client: BrokerClient, queue: string, id: string): Promise<WholeMessageView> {
  return client.admin({ path: queuePath(queue, `/messages/${encodeURIComponent(id)}`) });
}

/** Why a queue delivers nothing more now. */
export function whyOfQueue(client: BrokerClient, queue: string): Promise<QueueWhyView> {
  return client.admin({ path: queuePath(queue, "/why") });
}

function parametersOf({ filter, max, cursor }: PageQuery): URLSearchParams {
  return new URLSearchParams({ max: `${max}`, filter, ...(cursor === null ? {} : { cursor }) });
}

/** A message that a command sends. */
export interface NewMessage {
  readonly contentType: "json" | "text";
  /** The body; of `json` its text. */
  readonly text: string;
  /** `null` for the queue's own delay. */
  readonly delaySeconds: number | null;
}

/** @param queueId what the API in Cloudflare's shape calls the queue. */
export async function sendMessage(client: BrokerClient, queueId: string, message: NewMessage): Promise<void> {
  const { contentType, text, delaySeconds } = message;
  await client.rest({
    ...{ method: "POST", path: `/${queueId}/messages` },
    body: {
      ...{ content_type: contentType, body: contentType === "json" ? JSON.parse(text) : text },
      ...(delaySeconds === null ? {} : { delay_seconds: delaySeconds }),
    },
  });
}

/** A message of a batch, in the shape in which the API shows messages. The broker says what is wrong with it. */
export type BatchMessage = Readonly<Record<string, unknown>>;

/** Sends up to 100 messages, all of them or none. Throws BrokerFailure, with the `index` of one that is refused. */
export async function sendBatch(
  client: BrokerClient,
  queue: string,
  messages: readonly BatchMessage[],
): Promise<void> {
  await client.admin({ method: "POST", path: queuePath(queue, "/messages/batch"), body: { messages } });
}
