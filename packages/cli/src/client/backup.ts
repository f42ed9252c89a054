import type { BackupMessage, BackupView, Restored } from "@sluice/gateway/views";
import type { BrokerClient } from "./broker-client.ts";

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
