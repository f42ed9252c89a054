import { createHash } from "node:crypto";
import type { BackupMessage, BackupQueue } from "@sluice/gateway/views";
import type { OtherQueue } from "./same-queue.ts";

/** A message that was leased from its source. */
export interface Taken {
  /** Receipt of the lease, for `Source.remove`. */
  readonly handle: string;
  /** Id of the message, 32 hexadecimal digits. */
  readonly id: string;
  /** The message as a queue of Sluice stores it, or the reason why it cannot be moved. */
  readonly message: BackupMessage | { readonly unreadable: string };
  /** End of the lease, in Unix ms. */
  readonly leasedUntilMs: number;
}

/** Numbers of messages, as a source counts them; `null` for those that it does not count. */
export interface Backlog {
  readonly waiting: number | null;
  readonly inFlight: number | null;
  readonly delayed: number | null;
}

/** A setting that is copied: its name, and its value in words. */
export type Line = readonly [name: string, value: string];

/** Description of a queue of another system, to show it and to copy it. */
export interface SourceQueue {
  /** Place of the queue, in words, with its address. */
  readonly place: string;
  readonly identity: OtherQueue;
  /** Settings of the queue that Sluice creates. */
  readonly queue: BackupQueue;
  /** Formats the settings of a queue of Sluice in the words of this system. */
  linesOf(queue: BackupQueue): readonly Line[];
  /** Sentences about settings that are not copied, each with the reason. */
  readonly notCopied: readonly string[];
  /** Further sentences that the user should read before the move. */
  readonly notes: readonly string[];
  /** Changes to the source before messages are moved, which are undone afterwards. */
  readonly steps: readonly string[];
  /** Reason why nothing can be moved with these options; `null` for none. */
  readonly refusal: string | null;
  readonly backlog: Backlog;
}

/** A queue of another system whose messages are moved to Sluice. */
export interface Source {
  describe(): Promise<SourceQueue>;
  /** Prepares the queue for `take`. `close` undoes its changes, also those of an earlier run that was killed. */
  open(): Promise<void>;
  take(): Promise<Taken[]>;
  /** Deletes messages. @returns the handles of those that are deleted. */
  remove(handles: readonly string[]): Promise<ReadonlySet<string>>;
  backlog(): Promise<Backlog>;
  close(): Promise<void>;
}

/** Turns another system's id into one of Sluice: its 32 hexadecimal digits, or else a hash of it. */
export function idOf(text: string): string {
  const digits = text.replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(digits)
    ? digits
    : createHash("sha256").update(text).digest("hex").slice(0, 32);
}
