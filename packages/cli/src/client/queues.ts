import type { MoveView, QueueView } from "@sluice/gateway/views";
import type { BrokerClient } from "./broker-client.ts";

/** What a queue can be set to by a command. */
export interface QueueChange {
  /** Seconds that messages wait that name no delay. 0 to 86,400. */
  readonly deliveryDelaySeconds?: number;
  /** Seconds that a message is kept. 60 to 1,209,600. */
  readonly messageRetentionSeconds?: number;
}

/** Every queue, by the broker's order. */
export async function allQueues(client: BrokerClient): Promise<readonly QueueView[]> {
  const { queues } = await client.admin<{ queues: QueueView[] }>({ path: "/queues" });
  return queues;
}

/** @throws BrokerFailure with `EXIT_NOT_FOUND` for a queue that does not exist, as all below. */
export function queueNamed(client: BrokerClient, name: string): Promise<QueueView> {
  return client.admin({ path: queuePath(name) });
}

export async function createQueue(
  client: BrokerClient,
  name: string,
  change: QueueChange,
): Promise<QueueView> {
  const body = { queue_name: name, settings: settingsOf(change) };
  await client.rest({ method: "POST", path: "", body });
  return queueNamed(client, name);
}

export async function updateQueue(
  client: BrokerClient,
  name: string,
  change: QueueChange,
): Promise<QueueView> {
  const { id } = await queueNamed(client, name);
  await client.rest({ method: "PATCH", path: `/${id}`, body: { settings: settingsOf(change) } });
  return queueNamed(client, name);
}

export async function deleteQueue(client: BrokerClient, { id }: Pick<QueueView, "id">): Promise<void> {
  await client.rest({ method: "DELETE", path: `/${id}` });
}

export function pauseDelivery(client: BrokerClient, name: string): Promise<QueueView> {
  return client.admin({ method: "POST", path: queuePath(name, "/pause") });
}

export function resumeDelivery(client: BrokerClient, name: string): Promise<QueueView> {
  return client.admin({ method: "POST", path: queuePath(name, "/resume") });
}

/** @returns how many messages were deleted. */
export async function purgeQueue(client: BrokerClient, name: string): Promise<number> {
  const path = queuePath(name, "/purge");
  const { purged } = await client.admin<{ purged: number }>({ method: "POST", path });
  return purged;
}

/**
 * Begins to move what is ready in a dead-letter queue.
 *
 * @param to the queue that takes it; `null` for those that it came from.
 */
export async function startMove(client: BrokerClient, name: string, to: string | null): Promise<MoveView> {
  const body = to === null ? {} : { to };
  const path = queuePath(name, "/redrive");
  const { move } = await client.admin<{ move: MoveView }>({ method: "POST", path, body });
  return move;
}

/** Ends the move that is under way. */
export async function cancelMove(client: BrokerClient, name: string): Promise<MoveView> {
  const path = queuePath(name, "/redrive/cancel");
  const { move } = await client.admin<{ move: MoveView }>({ method: "POST", path });
  return move;
}

/** Path of a queue in the admin API. */
export function queuePath(name: string, below = ""): string {
  return `/queues/${encodeURIComponent(name)}${below}`;
}

function settingsOf({ deliveryDelaySeconds, messageRetentionSeconds }: QueueChange) {
  return { delivery_delay: deliveryDelaySeconds, message_retention_period: messageRetentionSeconds };
}
