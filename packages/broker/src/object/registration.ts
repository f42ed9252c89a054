import { QUEUE_ERROR_CODES, type QueueDefinition, type QueueRecord, type RpcFailure } from "@sluice/protocol";

/** The queue does not exist, or does not any more. */
export class QueueNotFoundError extends Error {
  override readonly name = "QueueNotFoundError";
  readonly queue: string;

  constructor(queue: string) {
    super(`queue "${queue}" does not exist (${QUEUE_ERROR_CODES.queueNotFound})`);
    this.queue = queue;
  }

  /** Reply to a send. */
  get failure(): RpcFailure {
    const cause = `Queue "${this.queue}" does not exist.`;
    return { ok: false, code: QUEUE_ERROR_CODES.queueNotFound, cause };
  }
}

/**
 * State of a queue, as its object knows it.
 *
 * - `known`: as the directory said, now or in an earlier epoch.
 * - `provisional`: as the broker was deployed. The directory could not be asked, and never was.
 * - `absent`: there is no queue of that name, or it was deleted. As of which revision, is said by the directory
 *   (`QueueStatus`).
 */
export type Known =
  | { readonly kind: "known"; readonly record: QueueRecord }
  | { readonly kind: "provisional"; readonly definition: QueueDefinition }
  | { readonly kind: "absent"; readonly asOf?: number };

/** Current state of the queue. It changes while the queue runs. */
export class Registration {
  #known: Known;
  /** The latest revision up to which it has heard in this epoch that there is no such queue, 0 if it has not. */
  #deletedAt = 0;

  constructor(known: Known) {
    this.#known = known;
    if (known.kind === "absent") this.#deletedAt = known.asOf ?? 0;
  }

  /** `undefined` for a queue that does not exist. */
  get definition(): QueueDefinition | undefined {
    if (this.#known.kind === "absent") return undefined;
    return this.#known.kind === "known" ? this.#known.record.definition : this.#known.definition;
  }

  get record(): QueueRecord | null {
    return this.#known.kind === "known" ? this.#known.record : null;
  }

  /**
   * Whether a record says nothing new: a later one is known, or that the queue was deleted since. Calls can overtake
   * each other.
   */
  isOutdated({ revision }: QueueRecord): boolean {
    return revision <= this.#deletedAt || revision <= (this.record?.revision ?? 0);
  }

  /** From now on the queue is that, unless the record is outdated. */
  set(record: QueueRecord): void {
    if (!this.isOutdated(record)) this.#known = { kind: "known", record };
  }

  /**
   * The queue was deleted at `revision`. Answers whether what the object holds is that queue's. A provisional one holds
   * nothing of a later queue: it would know that by its record.
   */
  deleted(revision: number): boolean {
    this.#deletedAt = Math.max(this.#deletedAt, revision);
    return this.#known.kind === "provisional" || isCleared(this.record, revision);
  }
}

/** Whether what an object holds, of a queue that was `copy`, belongs to a queue that was deleted. */
export function isOfDeleted(copy: QueueRecord, now: Known): boolean {
  return now.kind === "absent" || (now.kind === "known" && copy.revision < now.record.emptyAsOf);
}

/**
 * Determines the state of the queue: by the directory, else by its own copy of that, else by the deployed
 * configuration; `null` if there is none of them.
 */
export function knownFrom(
  answer: Known | null,
  copy: QueueRecord | null,
  deployed: QueueDefinition | undefined,
): Known | null {
  if (answer !== null) return answer;
  if (copy !== null) return { kind: "known", record: copy };
  return deployed === undefined ? null : { kind: "provisional", definition: deployed };
}

/**
 * Decides how an object reacts to a record of its queue.
 *
 * - `ignore`: it has known that, or something newer, for long.
 * - `beginAgain`: its data belongs to a queue that was deleted, so it begins again without.
 * - `adopt`: it goes by the record from now on.
 */
export function onConfigured(
  registration: Registration,
  told: QueueRecord,
): "ignore" | "beginAgain" | "adopt" {
  if (registration.isOutdated(told)) return "ignore";
  const known = registration.record;
  return known !== null && known.revision < told.emptyAsOf ? "beginAgain" : "adopt";
}

/** Whether what an object holds belongs to the queue that was deleted at `revision`. */
export function isCleared(known: QueueRecord | null, revision: number): boolean {
  return known !== null && known.revision <= revision;
}
