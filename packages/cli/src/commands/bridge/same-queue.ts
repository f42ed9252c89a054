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

interface Asked {
  readonly patience: Patience;
  /** Whether nothing may be changed, even for a moment. */
  readonly dryRun: boolean;
}

/**
 * Makes the refusal where a queue of the broker and one of another system are the same queue, whose messages a move
 * would delete; `null` where they are two. Addresses cannot decide it, since a broker has several. A dry run refuses
 * also what may be the same.
 */
export async function sameQueueRefusal(
  client: BrokerClient,
  name: string,
  other: OtherQueue,
  { patience, dryRun }: Asked,
): Promise<string | null> {
  const found = await patiently(patience, () =>
    client.rest<OwnQueue[]>({ path: `?page=1&name=${encodeURIComponent(name)}` }),
  );
  const own = found.find(({ queue_name }) => queue_name === name);
  if (own === undefined) return null;
  const isSame = isKnownSame(own, other);
  if (isSame === null && dryRun) {
    return (
      "Both sides may be the same queue: the times of their creation do not tell them apart. Without --dry-run the " +
      "command finds out before it moves anything, by a queue that it creates and deletes."
    );
  }
  if (!(isSame ?? (await isSeen(client, other, patience)))) return null;
  return (
    `Both sides are the same queue, ${name} of ${client.url}, and moving it would lose its messages. The other side's ` +
    "address is that of this broker: look at AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL and the profile for SQS, at " +
    "CLOUDFLARE_API_BASE_URL for Cloudflare."
  );
}

/** Tells by the facts of both queues whether they are the same one; `null` where the facts do not tell. */
function isKnownSame(own: OwnQueue, { id, createdSeconds }: OtherQueue): boolean | null {
  if (id !== undefined) return id === own.queue_id;
  const ownSeconds = Math.floor(Date.parse(own.created_on) / 1_000);
  return createdSeconds !== undefined && createdSeconds !== ownSeconds ? false : null;
}

/** Whether the other system sees a new queue of the broker, and so is the broker. */
function isSeen(
  client: BrokerClient,
  { hasQueue }: Pick<OtherQueue, "hasQueue">,
  patience: Patience,
): Promise<boolean> {
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
