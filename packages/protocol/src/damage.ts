/**
 * What is known to be wrong with a queue's store.
 *
 * - `rolledBack`: the store is older than the queue itself had reported. Messages that it took in since are lost, those
 *   that it settled since are delivered again.
 * - `messagesLost`: bytes of messages are not those that were stored. They are not delivered.
 * - `messagesAgain`: what had happened to messages cannot be read. They are delivered again, from the first attempt.
 * - `structure`: the database file did not hold together, or does not; what can still be read of it is used.
 * - `unreadable`: nothing of the queue can be read. Its calls are refused.
 */
export type DamageKind = "rolledBack" | "messagesLost" | "messagesAgain" | "structure" | "unreadable";

/** Damage that a queue has found. It stays listed: nothing that is lost comes back by itself. */
export interface QueueDamage {
  readonly kind: DamageKind;
  /** In ms since 1970. */
  readonly foundAtMs: number;
  /** Most messages that are lost by it; `null` where nobody can tell. */
  readonly messagesLost: number | null;
  /** One sentence, without the queue's name. */
  readonly text: string;
}
