import type { MoveTask } from "@sluice/protocol";
import type { Change, CommitRecord, Ending } from "./change.ts";
import type { Message } from "./message.ts";

/** Messages on their way to another queue. */
export interface PendingBatch {
  readonly id: number;
  readonly target: string;
  /** Tags with which the messages arrive: a move task gives them new ones. */
  readonly tags: readonly number[];
  /** Whether a move task has taken them out. */
  readonly isMove: boolean;
}

/** A message that stays although the use of a receipt should have ended its lease. */
export interface Ignored {
  readonly message: Message;
  readonly ending: Ending;
}

/** Meaning of a commit, message by message. */
export interface AppliedCommit {
  readonly record: CommitRecord;
  readonly accepted: readonly Message[];
  readonly changes: readonly Change[];
  readonly pendingIn: readonly PendingBatch[];
  readonly pendingOut: readonly (PendingBatch | undefined)[];
  /** Tags of copies that had left the topic before, and leave it again. */
  readonly publishedBefore: ReadonlySet<number>;
  /** Tags of copies that the deleted queue had passed on before, and passes on again. */
  readonly passedOnBefore: ReadonlySet<number>;
  /** The highest lease id that was durable before. */
  readonly leaseIdMaxBefore: number;
  readonly ignored: readonly Ignored[];
  /** The latest revision of the queue's record that any commit before went by. */
  readonly revisionBefore: number;
  /** The queue's move tasks as they were stored before. */
  readonly tasksBefore: readonly MoveTask[];
  /** Messages that the queue has delivered within the second that ends with the commit, without pulled ones. */
  readonly deliveredInSecond: number;
}
