import { createHash } from "node:crypto";
import type { BackupMessage, BackupQueue } from "@sluice/gateway/views";
import type { OtherQueue } from "./same-queue.ts";

/** A message of another queue system, as a queue of Sluice stores it. */
export interface ForeignMessage extends BackupMessage {
  /** Deduplication id of an SQS FIFO queue. */
  readonly deduplicationId?: string;
}

/** A message that was taken out of its source for a time. */
export interface Taken {
  /** Names this act of taking. */
  readonly handle: string;
  /** Id of the message, 32 hexadecimal digits. */
  readonly id: string;
  /** The message, or why it cannot be moved. */
  readonly message: ForeignMessage | { readonly unreadable: string };
  /** When somebody else may get it, in ms. */
  readonly leasedUntilMs: number;
}

/** Messages of a source, as it counts them; `null` for what it does not tell. */
export interface Backlog {
  readonly waiting: number | null;
  readonly inFlight: number | null;
  readonly delayed: number | null;
}

/** A setting that is copied: what it is called, and its value in words. */
export type Line = readonly [name: string, value: string];

/** A queue of another queue system, as it is shown and copied. */
export interface SourceQueue {
  /** Where it is, in words, with its address. */
  readonly place: string;
  readonly identity: OtherQueue;
  /** The queue as Sluice is to create it. */
  readonly queue: BackupQueue;
  /** Settings of a queue of Sluice in the words of this system. */
  linesOf(queue: BackupQueue): readonly Line[];
  /** Sentences about what is not copied, each with the reason. */
  readonly notCopied: readonly string[];
  /** Sentences about what else matters before it begins. */
  readonly notes: readonly string[];
  /** Changes to the source before messages are moved, which are undone afterwards. */
  readonly steps: readonly string[];
  /** Why nothing can be moved as the command line is; `null` if it can. */
  readonly refusal: string | null;
  readonly backlog: Backlog;
}

/** A queue that messages are taken out of. */
export interface Source {
  describe(): Promise<SourceQueue>;
  /** Prepares the queue for `take`. What it changes is changed back by `close`, of a later run too. */
  open(): Promise<void>;
  take(): Promise<Taken[]>;
  /** Deletes messages. @returns the handles of those that are deleted. */
  remove(handles: readonly string[]): Promise<ReadonlySet<string>>;
  backlog(): Promise<Backlog>;
  close(): Promise<void>;
}

/** Makes an id of Sluice of another system's: the same one, if it has 32 hexadecimal digits and hyphens. */
export function idOf(text: string): string {
  const digits = text.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits)
    ? digits
    : createHash("sha256").update(text).digest("hex").slice(0, 32);
}
