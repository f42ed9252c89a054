import type {
  ConsumerHealth,
  DamageKind,
  NextDelivery,
  QueueDamage,
  QueueDescription,
} from "@sluice/protocol";
import { timeOf } from "./time.ts";

/** Contents of a queue, and its deliveries. Counts are messages, sizes bytes, times ISO 8601. */
export interface BacklogView {
  /** The queue's own time, which all times here follow: in development it can be ahead of the machine's. */
  readonly now: string;
  /** Since when its object has been awake: figures that it keeps in memory begin there. */
  readonly awakeSince: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  /** Bodies of ready and delayed messages. */
  readonly backlogBytes: number;
  /** When the oldest waiting message was sent; `null` when none waits. */
  readonly oldestMessageAt: string | null;
  /** How deliveries to the consumer go; `null` where the broker delivers to no consumer. */
  readonly health: HealthView | null;
  /** Damage of its store that is known, oldest first; empty in a healthy queue. */
  readonly damage: readonly DamageView[];
}

/** State of the deliveries to a queue's consumer, as the admin API shows it. */
export interface HealthView {
  /** Whether the consumer is there, as far as is known. */
  readonly present: boolean;
  readonly inFlight: number;
  /** Deliveries since the last one that went well, with those that no consumer took. */
  readonly consecutiveFailures: number;
  readonly lastDelivery: LastDeliveryView | null;
  /**
   * Event that the queue waits for before it delivers again, and its time; `null` when nothing waits, or nothing may be
   * delivered.
   */
  readonly next: { readonly waitsFor: NextDelivery["waitsFor"]; readonly at: string } | null;
}

export interface LastDeliveryView {
  readonly endedAt: string;
  /** Reason why it went wrong; `null` if it did not. */
  readonly failure: string | null;
  /** Number of its messages that it acknowledged, and of all; both `null` where no message was settled. */
  readonly acked: number | null;
  readonly messages: number | null;
}

/** Damage as the admin API shows it. */
export interface DamageView {
  readonly kind: DamageKind;
  readonly foundAt: string;
  /** Most messages that are lost by it; `null` where that is unknown. */
  readonly messagesLost: number | null;
  readonly text: string;
}

export function backlogOf(description: QueueDescription): BacklogView {
  const {
    nowMs,
    awakeSinceMs,
    ready,
    delayed,
    leased,
    backlogBytes,
    oldestMessageTimestampMs,
    consumer,
    damage,
  } = description;
  return {
    now: timeOf(nowMs),
    awakeSince: timeOf(awakeSinceMs),
    messages: { ready, delayed, leased },
    backlogBytes,
    oldestMessageAt: oldestMessageTimestampMs === 0 ? null : timeOf(oldestMessageTimestampMs),
    health: consumer === null ? null : healthOf(consumer),
    damage: damageViews(damage),
  };
}

export function healthOf({
  isPresent,
  inFlight,
  consecutiveFailures,
  lastDelivery,
  next,
}: ConsumerHealth): HealthView {
  return {
    present: isPresent,
    inFlight,
    consecutiveFailures,
    lastDelivery:
      lastDelivery === null
        ? null
        : {
            endedAt: timeOf(lastDelivery.endedMs),
            failure: lastDelivery.failure,
            acked: lastDelivery.acked ?? null,
            messages: lastDelivery.messages ?? null,
          },
    next: next === null ? null : { waitsFor: next.waitsFor, at: timeOf(next.atMs) },
  };
}

export function damageViews(damage: readonly QueueDamage[]): DamageView[] {
  return damage.map(({ foundAtMs, ...entry }) => ({ ...entry, foundAt: timeOf(foundAtMs) }));
}
