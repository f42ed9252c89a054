import type { BackupMessage, BackupView, LeasedMessage, Restored } from "@sluice/gateway/views";
import { CliError } from "@sluice/project/errors";
import type { BrokerClient } from "./broker-client.ts";
import { queuePath } from "./queues.ts";

/** A page of a queue's messages in any state. */
interface BackupPage {
  readonly messages: readonly BackupMessage[];
  /** Cursor of the next page; `null` at the end. */
  readonly cursor: string | null;
  readonly searched: number;
  readonly of: number;
}

/** Reads the settings of a broker, with its queues, topics and subscriptions. */
export function backupOf(client: BrokerClient): Promise<BackupView> {
  return client.admin({ path: "/backup" });
}

/**
 * Reads messages of a queue, or of the queue of an HTTP endpoint, without leasing them or counting an attempt.
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

/** Kinds of settings in a backup, by their paths in the admin API. */
export type BackupKind = "queues" | "topics" | "topic-subscriptions" | "subscriptions";

/** Restores a queue, a topic or a subscription. One that exists is left as it is. */
export function restore(client: BrokerClient, kind: BackupKind, body: object): Promise<Restored> {
  return client.admin({ method: "POST", path: `/backup/${kind}`, body });
}

/**
 * Restores up to 100 messages of a queue, all of them or none.
 *
 * @throws BrokerFailure, with the `index` of a message that is refused.
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
 * Restores up to 100 messages of a queue, each once: the queue remembers their ids and leaves out repeated ones.
 *
 * @param forget ids that the queue need not remember any more, 1,000 at most.
 * @returns the ids of the messages that were left out.
 * @throws BrokerFailure, with the `index` of a message that is refused.
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

/** Leases up to 100 messages of a queue. */
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

/** Deletes or releases leased messages by their receipts. Returns the number of deleted ones. */
export async function settleMessages(
  client: BrokerClient,
  queue: string,
  receipts: { readonly delete?: readonly string[]; readonly release?: readonly string[] },
): Promise<number> {
  const path = queuePath(queue, "/messages/settle");
  const { deleted } = await client.admin<{ deleted: number }>({ method: "POST", path, body: receipts });
  return deleted;
}
