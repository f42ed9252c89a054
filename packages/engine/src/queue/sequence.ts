import type { Queue } from "./queue.ts";

/**
 * Whether the message of a sequence number is still in the queue: it waits or is leased.
 *
 * Looks at every run of every segment: cheap enough once a minute, not once a message.
 */
export function isHeld(queue: Queue, seq: number): boolean {
  for (const segment of queue.segments.values()) {
    const { runs } = segment;
    for (let r = 0; r < runs.length; r++) {
      const i = runs.from(r) + seq - runs.seq(r);
      const end = r + 1 < runs.length ? runs.from(r + 1) : segment.count;
      if (i >= runs.from(r) && i < end) return segment.has(i);
    }
  }
  return false;
}

/**
 * Makes new messages get sequence numbers above `seq`. A standard queue that was empty when it stopped would begin at 0
 * again, and a caller that remembers a number would take a new message for the one that had the number before.
 */
export function reserveSeq(queue: Queue, seq: number): void {
  queue.nextSeq = Math.max(queue.nextSeq, seq + 1);
}
