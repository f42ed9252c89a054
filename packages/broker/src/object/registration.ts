import { QUEUE_ERROR_CODES, type QueueDefinition, type QueueRecord, type RpcFailure } from "@sluice/protocol";

/** Error for a queue that does not exist, or no longer. */
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
 * State of a queue by the knowledge of its object.
 *
 * - `known`: the directory has answered with this record, now or in an earlier epoch.
 * - `provisional`: defined by the deployed configuration. The directory has not answered yet.
 * - `absent`: there is no queue of that name, or it was deleted. `asOf` is the directory's revision (`QueueStatus`).
 */
export type Known =
  | { readonly kind: "known"; readonly record: QueueRecord }
  | { readonly kind: "provisional"; readonly definition: QueueDefinition }
  | { readonly kind: "absent"; readonly asOf?: number };

/** Current state of the queue. It changes while the queue runs. */
export class Registration {
  #known: Known;
  /** Latest revision as of which the directory has said in this epoch that there is no such queue, else 0. */
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
   * Whether the queue knows a record of this revision, or a later record or deletion. Calls can overtake each other.
   */
  isOutdated({ revision }: QueueRecord): boolean {
    return revision <= this.#deletedAt || revision <= (this.record?.revision ?? 0);
  }

  /** Makes the record the current one, unless it is outdated. */
  set(record: QueueRecord): void {
    if (!this.isOutdated(record)) this.#known = { kind: "known", record };
  }

  /**
   * Notes that the queue was deleted at `revision`, and returns whether what the object holds is the deleted queue's. A
   * provisional queue is that: a later one would have a record.
   */
  noteDeleted(revision: number): boolean {
    this.#deletedAt = Math.max(this.#deletedAt, revision);
    return this.#known.kind === "provisional" || isCleared(this.record, revision);
  }
}

/** Whether what an object has stored together with its record `copy` belongs to a queue that was deleted. */
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
 * - `ignore`: the record is outdated.
 * - `beginAgain`: its data belongs to a queue that was deleted, so it begins again without.
 * - `adopt`: it goes by the record from now on.
 */
export function onConfigured(
  registration: Registration,
  received: QueueRecord,
): "ignore" | "beginAgain" | "adopt" {
  if (registration.isOutdated(received)) return "ignore";
  const known = registration.record;
  return known !== null && known.revision < received.emptyAsOf ? "beginAgain" : "adopt";
}

/** Whether what an object holds belongs to the queue that was deleted at `revision`. */
export function isCleared(known: QueueRecord | null, revision: number): boolean {
  return known !== null && known.revision <= revision;
}
