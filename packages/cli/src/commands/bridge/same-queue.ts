import { randomUUID } from "node:crypto";
import type { BrokerClient } from "../../client/broker-client.ts";
import { type Patience, patiently } from "../patience.ts";

/** Facts for deciding whether a queue of the other system is the broker's own: the other address may lead to it. */
export interface OtherQueue {
  /** Its id, where the system has ids of queues. */
  readonly id?: string;
  /** Time of its creation, in whole Unix seconds. */
  readonly createdSeconds?: number;
  /** Whether the system has a queue of that name. */
  hasQueue(name: string): Promise<boolean>;
}

/** A queue as the broker's API in Cloudflare's shape shows it. */
interface OwnQueue {
  readonly queue_id: string;
  readonly queue_name: string;
  readonly created_on: string;
}

/**
 * Makes the refusal where a queue of the broker and one of another system are the same queue, whose messages a move
 * would delete; `null` where they are two. Addresses cannot decide it, since a broker has several.
 */
export async function sameQueueRefusal(
  client: BrokerClient,
  name: string,
  other: OtherQueue,
  patience: Patience,
): Promise<string | null> {
  const found = await patiently(patience, () =>
    client.rest<OwnQueue[]>({ path: `?page=1&name=${encodeURIComponent(name)}` }),
  );
  const own = found.find(({ queue_name }) => queue_name === name);
  if (own === undefined || !(await isSame(client, own, other, patience))) return null;
  return (
    `Both sides are the same queue, ${name} of ${client.url}, and moving it would lose its messages. The other side's ` +
    "address is that of this broker: look at AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL and the profile for SQS, at " +
    "CLOUDFLARE_API_BASE_URL for Cloudflare."
  );
}

async function isSame(
  client: BrokerClient,
  own: OwnQueue,
  { id, createdSeconds, hasQueue }: OtherQueue,
  patience: Patience,
): Promise<boolean> {
  if (id !== undefined) return id === own.queue_id;
  const ownSeconds = Math.floor(Date.parse(own.created_on) / 1_000);
  if (createdSeconds !== undefined && createdSeconds !== ownSeconds) return false;
  // Two queues can be created in the same second. If the other system sees a new queue of the broker, it is the broker.
  return patiently(patience, async () => {
    const probe = `sluice-${randomUUID()}`;
    const body = { queue_name: probe };
    const { queue_id } = await client.rest<OwnQueue>({ method: "POST", path: "", body });
    try {
      return await hasQueue(probe);
    } finally {
      await client.rest({ method: "DELETE", path: `/${queue_id}` });
    }
  });
}
