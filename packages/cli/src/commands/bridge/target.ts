import type { BackupQueue, LeasedMessage } from "@sluice/gateway/views";
import type { Line } from "./message.ts";
import type { OtherQueue } from "./same-queue.ts";

/** Description of the other system's queue that a queue is moved to. */
export interface TargetQueue {
  /** Place of the queue, in words, with its address. */
  readonly place: string;
  /** `null` where it does not exist. */
  readonly identity: OtherQueue | null;
  /** Settings that it is created with. */
  readonly lines: readonly Line[];
  /** Sentences about settings that are not copied, each with the reason. */
  readonly notCopied: readonly string[];
  readonly differences: readonly string[];
  readonly notes: readonly string[];
  readonly refusal: string | null;
}

/** Outcome of sending a message: `again` may succeed later, `left` is the reason why it cannot be sent. */
export type Sent = "sent" | "again" | { readonly left: string };

/** A queue of another system that messages are sent to. */
export interface Target {
  describe(queue: BackupQueue): Promise<TargetQueue>;
  /** Creates it with the settings of a queue of Sluice, unless it is there. */
  create(queue: BackupQueue): Promise<void>;
  /** Most messages, and most bytes, of one call. */
  readonly limits: { readonly messages: number; readonly size: number };
  /** @returns the outcome of each message, in order. */
  send(messages: readonly LeasedMessage[]): Promise<readonly Sent[]>;
}

/** Returns the size of a message in bytes as SQS counts it: the body, and the names, types and values of attributes. */
export function messageBytes({
  text,
  base64 = "",
  attributes = {},
}: Pick<LeasedMessage, "text" | "base64" | "attributes">): number {
  const ofAttributes = Object.entries(attributes).map(([name, { type, value }]) => {
    const bytes = type.startsWith("Binary") ? decodedBytes(value) : Buffer.byteLength(value);
    return Buffer.byteLength(name) + Buffer.byteLength(type) + bytes;
  });
  const ofBody = text === undefined ? decodedBytes(base64) : Buffer.byteLength(text);
  return ofAttributes.reduce((sum, bytes) => sum + bytes, ofBody);
}

function decodedBytes(base64: string): number {
  return Math.floor((3 * base64.length) / 4);
}
