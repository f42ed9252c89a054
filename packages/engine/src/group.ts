import type { HeapNode } from "./heap.ts";
import { MessageList } from "./message-list.ts";

/** Group of messages that name none. */
export const NO_GROUP = "";

/** A message group of a FIFO queue, or a tenant of a standard one (spec sqs 4.2, 8). Lives as long as a message of it. */
export class Group implements HeapNode {
  readonly id: string;
  /** FIFO: all messages that are not gone, by sequence number. Standard: those that are ready, by due time. */
  readonly messages = new MessageList();
  /** What the group is ordered by among others, see its `GroupOrder`. */
  atMs = 0;
  seq = 0;
  at = -1;
  /** Messages that are not gone. */
  remaining = 0;
  inFlight = 0;
  /** When a message of it was committed last, in ms. */
  sentMs = 0;

  constructor(id: string) {
    this.id = id;
  }
}
