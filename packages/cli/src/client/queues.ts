import type { MessageView, MoveView, QueueView, ShardsView } from "@sluice/gateway/views";
import type { BrokerClient } from "./broker-client.ts";

/** Settings of a queue that a command can change. */
export interface QueueChange {
  /** Delay of messages that are sent without one. 0 to 86,400. */
  readonly deliveryDelaySeconds?: number;
  /** Seconds that a message is kept. 60 to 1,209,600. */
  readonly messageRetentionSeconds?: number;
  /** Number of objects that keep the queue, 1 to 100. Only an update has it. */
  readonly shards?: number;
}

/** Lists all queues in the broker's order. */
export async function allQueues(client: BrokerClient): Promise<readonly QueueView[]> {
  const { queues } = await client.admin<{ queues: QueueView[] }>({ path: "/queues" });
  return queues;
}

/** @throws BrokerFailure with `EXIT_NOT_FOUND` for a queue that does not exist, as the functions below do. */
export function queueNamed(client: BrokerClient, name: string): Promise<QueueView> {
  return client.admin({ path: queuePath(name) });
}

export function shardsOfQueue(client: BrokerClient, name: string): Promise<ShardsView> {
  return client.admin({ path: queuePath(name, "/shards") });
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
  { shards, ...change }: QueueChange,
): Promise<QueueView> {
  const { id } = await queueNamed(client, name);
  // Shards first: this fails where a queue cannot have several, and then nothing is changed.
  if (shards !== undefined)
    await client.admin({ method: "PUT", path: queuePath(name, "/shards"), body: { shards } });
  if (Object.keys(change).length > 0)
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

/** Deletes all messages of a queue. Returns their number. */
export async function purgeQueue(client: BrokerClient, name: string): Promise<number> {
  const path = queuePath(name, "/purge");
  const { purged } = await client.admin<{ purged: number }>({ method: "POST", path });
  return purged;
}

/** Messages that an action is for. */
export interface Selection {
  /** Filter terms that they match, as in `docs/admin-api.md`. */
  readonly filter?: string;
  /** Their ids or refs. */
  readonly ids?: readonly string[];
  /** Most messages, 1 or more. Default: no limit. */
  readonly limit?: number;
}

/** Dead letters to move, with their destination. Default: all that are ready. */
export interface MoveRequest extends Selection {
  /** Queue that takes them. Default: the queues that they came from. */
  readonly to?: string;
}

/** Messages that an action would affect. */
interface Plan {
  readonly count: number;
  /** The first of them. */
  readonly messages: readonly MessageView[];
}

/** Begins to move messages out of a dead-letter queue. */
export async function startMove(client: BrokerClient, name: string, body: MoveRequest): Promise<MoveView> {
  const path = queuePath(name, "/redrive");
  const { move } = await client.admin<{ move: MoveView }>({ method: "POST", path, body });
  return move;
}

/** Counts the messages that a move would move, without moving them. */
export function planMove(client: BrokerClient, name: string, request: MoveRequest): Promise<Plan> {
  return planOf(client, queuePath(name, "/redrive"), request);
}

/** Counts the messages that a request would affect, without acting, in as many requests as that takes. */
export async function planOf(client: BrokerClient, path: string, request: Selection): Promise<Plan> {
  const { limit = Number.POSITIVE_INFINITY } = request;
  let plan: Plan = { count: 0, messages: [] };
  let cursor: string | null = null;
  do {
    const body = { ...request, dryRun: true, ...(cursor === null ? {} : { cursor }) };
    const page: Plan & { cursor: string | null } = await client.admin({ method: "POST", path, body });
    const { messages } = plan;
    plan = { count: plan.count + page.count, messages: messages.length > 0 ? messages : page.messages };
    cursor = page.cursor;
  } while (cursor !== null && plan.count < limit);
  return { ...plan, count: Math.min(plan.count, limit) };
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
