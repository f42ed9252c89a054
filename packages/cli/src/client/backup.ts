import type { BackupMessage, BackupView, LeasedMessage, Restored } from "@sluice/gateway/views";
import { CliError } from "@sluice/project/errors";
import type { BrokerClient } from "./broker-client.ts";
import { queuePath } from "./queues.ts";

/** A page of what a queue holds, in whatever state. */
interface BackupPage {
  readonly messages: readonly BackupMessage[];
  /** Where the next page begins; `null` at the end. */
  readonly cursor: string | null;
  readonly searched: number;
  readonly of: number;
}

/** Reads the settings of a broker, and what holds its messages. */
export function backupOf(client: BrokerClient): Promise<BackupView> {
  return client.admin({ path: "/backup" });
}

/**
 * Messages of a queue, or of the queue of an endpoint. Nothing is leased or counted.
 *
 * @throws BrokerFailure with `EXIT_NOT_FOUND`
 */
export function pageOfBackup(
  client: BrokerClient,
  queue: string,
  cursor: string | null,
): Promise<BackupPage> {
  const query = new URLSearchParams({ queue, ...(cursor === null ? {} : { cursor }) });
  return client.admin({ path: `/backup/messages?${query}` });
}

/** Kinds of what a broker is set to, by their paths. */
export type BackupKind = "queues" | "topics" | "topic-subscriptions" | "subscriptions";

/** Brings back a queue, a topic or a subscription. What is there already is left as it is. */
export function restore(client: BrokerClient, kind: BackupKind, body: object): Promise<Restored> {
  return client.admin({ method: "POST", path: `/backup/${kind}`, body });
}

/**
 * Brings back up to 100 messages of a queue, all of them or none.
 *
 * @throws BrokerFailure, with the `index` of one that is refused.
 */
export async function restoreMessages(
  client: BrokerClient,
  queue: string,
  messages: readonly object[],
): Promise<void> {
  const path = `/backup/messages?${new URLSearchParams({ queue })}`;
  await client.admin({ method: "POST", path, body: { messages } });
}

/**
 * Stores up to 100 messages of a queue, each once: those that the queue remembers are left out.
 *
 * @param forget ids of messages that cannot come again, 1,000 at most.
 * @returns the ids of those that were stored before.
 * @throws BrokerFailure, with the `index` of one that is refused.
 */
export async function restoreOnce(
  client: BrokerClient,
  queue: string,
  messages: readonly object[],
  forget: readonly string[],
): Promise<readonly string[]> {
  const path = `/backup/messages?${new URLSearchParams({ queue })}`;
  const body = { messages, once: true, forget };
  const answer = await client.admin<{ duplicates?: string[] }>({ method: "POST", path, body });
  if (answer.duplicates === undefined) throw new CliError(OLD_BROKER);
  return answer.duplicates;
}

const OLD_BROKER = "The broker is of an earlier version, which cannot tell messages that come twice.";

/** Takes up to 100 messages out of a queue for some seconds. */
export async function leaseMessages(
  client: BrokerClient,
  queue: string,
  max: number,
  leaseSeconds: number,
): Promise<readonly LeasedMessage[]> {
  const path = queuePath(queue, "/messages/lease");
  const body = { max, leaseSeconds };
  const { messages } = await client.admin<{ messages: LeasedMessage[] }>({ method: "POST", path, body });
  return messages;
}

/** Deletes leased messages, and gives others back, by their receipts. @returns how many are deleted. */
export async function settleMessages(
  client: BrokerClient,
  queue: string,
  receipts: { readonly delete?: readonly string[]; readonly release?: readonly string[] },
): Promise<number> {
  const path = queuePath(queue, "/messages/settle");
  const { deleted } = await client.admin<{ deleted: number }>({ method: "POST", path, body: receipts });
  return deleted;
}
