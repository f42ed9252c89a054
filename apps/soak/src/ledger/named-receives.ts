import { DEDUPLICATION_MS } from "@sluice/protocol";
import type { Message, NamedReceive } from "./message.ts";
import type { Leased } from "./view.ts";

/** Longest that a message can be kept invisible by one receipt, in ms (spec sqs 3.1). */
export const VISIBILITY_TOTAL_MS_MAX = 43_200_000;

/** A receive that has arrived at a queue and has no answer. */
export interface Receiving {
  readonly visibilityMs: number;
  /** Its `ReceiveRequestAttemptId`; `null` for a receive without one, or of a standard queue. */
  readonly attemptId: string | null;
}

/** Time of a commit and the receives that waited for it. */
interface Moment {
  readonly atMs: number;
  /** Receives that were under way when it was written. */
  readonly receiving: readonly Receiving[];
}

/**
 * Results of receives with attempt ids: a client that receives again within five minutes gets the same messages and
 * receipts, as long as nothing has happened to any of them (spec sqs 4.5). They are derived from durable leases and
 * from the receives that waited when the leases were written, so the contents of an answer that was lost with its
 * object are known too.
 */
export class NamedReceives {
  readonly #byLease = new Map<number, NamedReceive>();
  readonly #byName = new Map<string, NamedReceive>();

  ofLease(leaseId: number): NamedReceive | null {
    return this.#byLease.get(leaseId) ?? null;
  }

  /** The last receive that is sure to have had that id. */
  named(attemptId: string | null): NamedReceive | null {
    return (attemptId === null ? undefined : this.#byName.get(attemptId)) ?? null;
  }

  /** Enters messages that a durable commit has leased. */
  enter(leaseId: number, messages: readonly Message[], endMs: number, commit: Moment): void {
    const { receiving, atMs } = commit;
    const lastsMs = endMs - atMs;
    const names = new Set(receiving.flatMap((one) => (one.visibilityMs === lastsMs ? [one.attemptId] : [])));
    const receive = { leaseId, messages, firstMs: atMs, names, endMs, receipts: null };
    this.#byLease.set(leaseId, receive);
    const [name = null] = names;
    if (names.size === 1 && name !== null) this.#byName.set(name, receive);
    for (const message of messages) message.namedReceive = receive;
  }

  /** Records the answer to a receive: from now on its attempt id is certain. */
  answered(receive: NamedReceive, attemptId: string, receipts: readonly string[]): void {
    receive.names = new Set([attemptId]);
    receive.receipts = receipts;
    this.#byName.set(attemptId, receive);
  }
}

/** Whether a receive that is made again gets the same messages: nothing has happened to them, and it is not too old. */
export function isRepeatable(receive: NamedReceive, nowMs: number): boolean {
  const { leaseId, messages, firstMs, endMs } = receive;
  if (endMs <= nowMs || nowMs >= firstMs + DEDUPLICATION_MS) return false;
  return messages.every(
    ({ view }) => view.status === "leased" && view.leaseId === leaseId && view.atMs === endMs,
  );
}

/** Visibility ends that receives under way can give a message by its attempt id, in ms. */
export function repeatedEnds(message: Message, view: Leased, commit: Moment): readonly number[] {
  const { namedReceive: receive } = message;
  const { atMs, receiving } = commit;
  if (receive === null || receive.leaseId !== view.leaseId || receive.endMs !== view.atMs) return [];
  if (view.atMs <= atMs || atMs >= receive.firstMs + DEDUPLICATION_MS) return [];
  const mostMs = receive.firstMs + VISIBILITY_TOTAL_MS_MAX;
  return receiving.flatMap(({ attemptId, visibilityMs }) =>
    attemptId !== null && receive.names.has(attemptId) ? [Math.min(atMs + visibilityMs, mostMs)] : [],
  );
}
