import type { QueueDescription } from "@sluice/protocol";
import type { AppliedCommit, PendingBatch } from "../ledger/applied-commit.ts";
import type { Change } from "../ledger/change.ts";
import type { DeliveryRecord } from "../ledger/delivery-record.ts";
import type { RegisteredRow } from "../ledger/directory-ledger.ts";
import type { Challenge, Credentials } from "../ledger/endpoint-authorization.ts";
import type { Message, NamedReceive } from "../ledger/message.ts";
import type { Publication } from "../ledger/publications.ts";
import type { Transmission } from "../ledger/transmission.ts";
import type { WrittenSegment } from "../platform/commits.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/** A batch at the moment it leaves its queue. */
export interface Departing {
  readonly leaseId: number;
  readonly tags: readonly number[];
  /** Ledger entry of each tag, with what the queue has promised; absent for a tag that it never accepted. */
  readonly messages: readonly (Message | undefined)[];
  readonly attempts: readonly number[];
  /** Whether it was received with a visibility timeout of 0: no lease holds it. */
  readonly isVisible: boolean;
  /** The visibility timeout that was asked for, in ms; `null` where the queue's settings say it. */
  readonly visibilityMs: number | null;
  /** An earlier delivery of the same lease; `undefined` if it is received again by the attempt id of that. */
  readonly earlier: DeliveryRecord | undefined;
}

/** Answer of a queue to a receive with an attempt id. */
export interface Received {
  readonly attemptId: string;
  /** `null` if it got nothing, or nothing that a lease holds. */
  readonly leaseId: number | null;
  readonly tags: readonly number[];
  readonly receipts: readonly string[];
  /** Last receive by that attempt id when this one arrived; `null` if there was none, or it is unknown. */
  readonly before: NamedReceive | null;
}

/** A request to an endpoint at the moment it leaves its queue. */
export interface Requested {
  readonly tag: number;
  readonly url: string;
  /** Its `Authorization` header. */
  readonly authorization: string | null;
  /** Challenge in the answer to the previous request of the same delivery, if that has not been answered itself. */
  readonly challenge: Challenge | null;
  /** Credentials that the queue was given to answer a challenge. */
  readonly credentials: Credentials | null;
}

/** Answer of a topic about published messages: those that it took and the duplicates that it dropped. */
export interface Published {
  readonly taken: readonly Publication[];
  readonly dropped: readonly Publication[];
}

/**
 * Watches one property. Each method looks at one kind of moment and answers with what is wrong, if something is. A
 * checker has no memory of its own: what it needs to know of the past is in the ledgers.
 */
export interface Checker {
  /** Property that must hold in every history, whatever goes wrong in it. */
  readonly property: string;
  /** A commit was written; it is not durable yet. */
  written?(queue: QueueObject, segments: readonly WrittenSegment[]): string | undefined;
  /** A commit has become durable that has taken in a message. */
  accepted?(queue: QueueObject, message: Message, commit: AppliedCommit): string | undefined;
  /** A commit has become durable that has changed the state of a message. */
  changed?(queue: QueueObject, change: Change, commit: AppliedCommit): string | undefined;
  /** A commit has become durable. `accepted` and `changed` have looked at its messages before. */
  committed?(queue: QueueObject, commit: AppliedCommit): string | undefined;
  /** A batch leaves for its consumer, by push or by pull. */
  departs?(queue: QueueObject, batch: Departing): string | undefined;
  /** A receive with an attempt id is answered, with messages or with none. */
  received?(queue: QueueObject, received: Received): string | undefined;
  /** A request leaves for an endpoint. */
  requested?(queue: QueueObject, request: Requested): string | undefined;
  /** A queue answers to a send that its messages are stored. */
  acknowledged?(queue: QueueObject, transmission: Transmission): string | undefined;
  /** A topic answers to a publish: which messages it has, and which are duplicates. */
  published?(topic: QueueObject, outcome: Published): string | undefined;
  /** A queue answers that a move task was cancelled. */
  cancelled?(queue: QueueObject, task: { readonly taskId: string }): string | undefined;
  /** A row of the directory has become durable, `null` for one that is gone. */
  registered?(queue: QueueObject, row: RegisteredRow): string | undefined;
  /** A queue drops everything that it holds of the queue whose record had that revision. */
  dropped?(queue: QueueObject, what: { readonly revision: number }): string | undefined;
  /** A queue answers to another queue that it has taken the messages of a transfer. */
  taken?(queue: QueueObject, pendingBatch: PendingBatch): string | undefined;
  /** The queue has been asked for its figures. */
  described?(queue: QueueObject, description: QueueDescription): string | undefined;
  /** An event is over in which the queue had a part. */
  afterEvent?(queue: QueueObject): string | undefined;
  /** The history does not come to its end. */
  stuck?(queue: QueueObject, text: string): string | undefined;
  /** The history is over, everything was handled, and the queue has been started once more. */
  atEnd?(queue: QueueObject): string | undefined;
}
