import type { Alert } from "../../topology/alerts.ts";
import type { Fault } from "./faults.ts";
import type { MoveTask } from "./moves.ts";
import type { QueueUsage } from "./usage.ts";

/** State of a queue for people: what the admin API shows. */
export interface QueueDescription {
  readonly queue: string;
  /** The queue's own time in ms: in development it can be ahead of the machine's. */
  readonly nowMs: number;
  /** Since when the object has been awake, in ms: counts that it keeps in memory begin there. */
  readonly awakeSinceMs: number;
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
  readonly backlogBytes: number;
  readonly oldestMessageTimestampMs: number;
  /** Absent without a history, and from a broker that does not count them. */
  readonly rates?: QueueRates;
  /** Rows written and read by this object since it started: what Cloudflare bills. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Usage of this month; absent from a broker that does not count it, and where nothing can be read. */
  readonly usage?: QueueUsage;
  /** Most finished messages that the queue keeps; absent where it keeps none. */
  readonly finishedMax?: number;
  /** Damage that was found, oldest first; empty in a healthy queue. */
  readonly damage: readonly QueueDamage[];
  /** How delivery goes; `null` for a queue whose messages the broker delivers to no consumer. */
  readonly consumer: ConsumerHealth | null;
  /** The latest task that moves messages out of it; `null` if there was none. */
  readonly lastMove: MoveTask | null;
  /** Faults that are injected into its deliveries; absent where there are none. */
  readonly faults?: readonly Fault[];
  /** Alerts that are on; absent where there are none. */
  readonly alerts?: readonly Alert[];
}

/** How deliveries to a queue's consumer go: since its object was started, and from its history before that. */
export interface ConsumerHealth {
  /** Whether the consumer is there, as far as is known: it took the last delivery, or has answered a question since. */
  readonly isPresent: boolean;
  /** Deliveries that are under way. */
  readonly inFlight: number;
  /**
   * Deliveries in a row that did not go well: they failed, no consumer took them (which is no attempt), or their
   * handler asked for all messages again. A single one of the last kind does not count.
   */
  readonly consecutiveFailures: number;
  /** The delivery that ended last. */
  readonly lastDelivery: LastDelivery | null;
  /** Next delivery if nothing is sent; `null` when nothing waits, delivery is paused or every slot is taken. */
  readonly next: NextDelivery | null;
}

export interface LastDelivery {
  readonly endedMs: number;
  /** Reason why it went wrong; `null` if it did not. */
  readonly failure: string | null;
  /** Messages that it acknowledged, of how many. Absent where no message was settled. */
  readonly acked?: number;
  readonly messages?: number;
}

/**
 * Event that a queue waits for before it delivers again.
 *
 * - `return`: the consumer was absent. It is asked at that time whether it is back.
 * - `slot`: messages could go out, and the queue's rate lets the next one out at that time.
 * - `due`: the next message, or the next batch, is due at that time: after a delay, before another attempt, or at once.
 */
export interface NextDelivery {
  readonly waitsFor: "return" | "slot" | "due";
  readonly atMs: number;
}

/**
 * Kind of damage to a queue's store.
 *
 * - `rolledBack`: the store is older than the queue itself had reported. Messages that it took in since are lost, those
 *   that it settled since are delivered again.
 * - `messagesLost`: bytes of messages are not those that were stored. They are not delivered.
 * - `messagesAgain`: the state of messages cannot be read. They are delivered again, from the first attempt.
 * - `structure`: the database file was or is corrupt; what can still be read of it is used.
 * - `unreadable`: nothing of the queue can be read. Its calls are refused.
 */
export type DamageKind = "rolledBack" | "messagesLost" | "messagesAgain" | "structure" | "unreadable";

/**
 * Damage that a queue has found. It stays listed: lost messages do not come back by themselves. A contract: it is
 * stored. Kinds and optional members may be added.
 */
export interface QueueDamage {
  readonly kind: DamageKind;
  /** In ms since 1970. */
  readonly foundAtMs: number;
  /** Most messages that are lost by it; `null` where that is unknown. */
  readonly messagesLost: number | null;
  /** One sentence, without the queue's name. */
  readonly text: string;
}

/**
 * A queue that only a call can change: nothing is delayed, leased or under way. Its description of then stays true
 * while its object sleeps. A contract: the directory stores it. Only optional members may be added.
 */
export interface QueueAtRest {
  /** Id of the queue: a queue that is created anew under the name has another one. */
  readonly queueId: string;
  readonly description: QueueDescription;
}

/** Messages a second that come in, are acknowledged and are dead-lettered, in the last five seconds. */
export interface QueueRates {
  readonly in: number;
  readonly out: number;
  readonly dead: number;
}
