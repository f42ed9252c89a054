import type {
  ConsumerHealth,
  DamageKind,
  QueueDefinition,
  QueueDescription,
  QueueRecord,
} from "@sluice/protocol";

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
  /** How deliveries to the consumer go; `null` where the broker delivers to nobody. */
  readonly health: HealthView | null;
  /** Rows that the queue's object wrote and read since it started: what Cloudflare bills. */
  readonly storage: { readonly rowsWritten: number; readonly rowsRead: number };
  /** What is known to be wrong with its store, oldest first; empty in a healthy queue. */
  readonly damage: readonly DamageView[];
}

/** Deliveries as the admin API shows them, since the queue's object was started. */
export interface HealthView {
  /** Whether somebody is there to deliver to, as far as is known. */
  readonly present: boolean;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
  readonly lastDelivery: { readonly endedAt: string; readonly failure: string | null } | null;
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
    health: description.consumer === null ? null : healthOf(description.consumer),
    storage: { rowsWritten: description.rowsWritten, rowsRead: description.rowsRead },
    damage: description.damage.map(({ foundAtMs, ...damage }) => ({
      ...damage,
      foundAt: new Date(foundAtMs).toISOString(),
    })),
  };
}

function healthOf({ isPresent, inFlight, consecutiveFailures, lastDelivery }: ConsumerHealth): HealthView {
  return {
    present: isPresent,
    inFlight,
    consecutiveFailures,
    lastDelivery:
      lastDelivery === null
        ? null
        : { endedAt: new Date(lastDelivery.endedMs).toISOString(), failure: lastDelivery.failure },
  };
}
