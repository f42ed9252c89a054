import type { DamageKind, QueueDefinition, QueueDescription, QueueRecord } from "@sluice/protocol";

/** One queue as the admin API shows it. Counts are messages, sizes bytes, times ISO 8601. */
export interface QueueView {
  readonly name: string;
  /** 32 hexadecimal digits: what the Cloudflare API calls the queue. */
  readonly id: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  /** Bodies of ready and delayed messages. */
  readonly backlogBytes: number;
  /** When the oldest waiting message was sent; `null` when none waits. */
  readonly oldestMessageAt: string | null;
  readonly settings: {
    readonly deliveryDelaySeconds: number;
    readonly messageRetentionSeconds: number;
    readonly deliveryPaused: boolean;
  };
  readonly producers: QueueDefinition["producers"];
  readonly consumer: QueueDefinition["consumer"];
  /** Rows that the queue's object wrote and read since it started: what Cloudflare bills. */
  readonly storage: { readonly rowsWritten: number; readonly rowsRead: number };
  /** What is known to be wrong with its store, oldest first; empty in a healthy queue. */
  readonly damage: readonly DamageView[];
}

/** Damage as the admin API shows it. */
export interface DamageView {
  readonly kind: DamageKind;
  readonly foundAt: string;
  /** Most messages that are lost by it; `null` where nobody can tell. */
  readonly messagesLost: number | null;
  readonly text: string;
}

export function viewOf({ queueId, definition }: QueueRecord, description: QueueDescription): QueueView {
  const { oldestMessageTimestampMs } = description;
  return {
    name: description.queue,
    id: queueId,
    messages: {
      ready: description.ready,
      delayed: description.delayed,
      leased: description.leased,
    },
    backlogBytes: description.backlogBytes,
    oldestMessageAt: oldestMessageTimestampMs === 0 ? null : new Date(oldestMessageTimestampMs).toISOString(),
    settings: {
      deliveryDelaySeconds: definition.deliveryDelaySeconds,
      messageRetentionSeconds: definition.messageRetentionSeconds,
      deliveryPaused: definition.deliveryPaused ?? false,
    },
    producers: definition.producers,
    consumer: definition.consumer,
    storage: { rowsWritten: description.rowsWritten, rowsRead: description.rowsRead },
    damage: description.damage.map(({ foundAtMs, ...damage }) => ({
      ...damage,
      foundAt: new Date(foundAtMs).toISOString(),
    })),
  };
}
