import type { Checker } from "./checker.ts";

/** What the queue counts as it goes along is what a recount of its messages finds. */
export const counters: Checker = {
  property: "counters",

  afterEvent({ life }) {
    const queue = life?.core?.queue;
    if (queue === undefined) return undefined;
    const found = { ready: 0, delayed: 0, leased: 0, bytes: 0 };
    for (const segment of queue.segments.values()) {
      let remaining = segment.count - segment.cursor;
      found.ready += segment.readyEnd - segment.cursor;
      found.delayed += segment.count - segment.readyEnd;
      found.bytes += segment.bytes(segment.cursor, segment.count);
      for (const { state, from, to } of segment.entries) {
        remaining += to - from;
        found[state] += to - from;
        if (state !== "leased") found.bytes += segment.bytes(from, to);
      }
      if (remaining !== segment.remaining) {
        return `segment ${segment.id} counts ${segment.remaining} messages and has ${remaining}`;
      }
    }
    if (
      found.ready === queue.readyCount &&
      found.delayed === queue.delayedCount &&
      found.leased === queue.leasedCount &&
      found.bytes === queue.waitingBytes
    ) {
      return undefined;
    }
    const { readyCount, delayedCount, leasedCount, waitingBytes } = queue;
    return (
      `ready ${readyCount}, delayed ${delayedCount}, leased ${leasedCount}, bytes ${waitingBytes} are counted; ` +
      `${found.ready}, ${found.delayed}, ${found.leased}, ${found.bytes} are there`
    );
  },
};
