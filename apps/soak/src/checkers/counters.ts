import type { Checker } from "./checker.ts";

/**
 * What the queue counts as it goes along is what a recount of its messages finds, and what it answers to those who ask is
 * what it has promised.
 */
export const counters: Checker = {
  property: "counters",

  described({ ledger, disk, world }, { ready, delayed, leased, backlogBytes, oldestMessageTimestampMs }) {
    if (disk.durableVersion !== disk.committedVersion) return undefined;
    const found = { ready: 0, delayed: 0, leased: 0, bytes: 0, oldestMs: Infinity };
    for (const { view, bytes, acceptedMs } of ledger.present()) {
      if (view.status === "leased") found.leased += 1;
      if (view.status !== "waiting") continue;
      found[view.atMs <= world.nowMs ? "ready" : "delayed"] += 1;
      found.bytes += bytes;
      found.oldestMs = Math.min(found.oldestMs, acceptedMs);
    }
    const oldestMs = found.oldestMs === Infinity ? 0 : found.oldestMs;
    if (
      found.ready === ready &&
      found.delayed === delayed &&
      found.leased === leased &&
      found.bytes === backlogBytes &&
      oldestMs === oldestMessageTimestampMs
    ) {
      return undefined;
    }
    return (
      `${ready} ready, ${delayed} delayed, ${leased} leased, ${backlogBytes} bytes, the oldest of ` +
      `${oldestMessageTimestampMs} are reported; ${found.ready}, ${found.delayed}, ${found.leased}, ${found.bytes}, ` +
      `${oldestMs} are there`
    );
  },

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
      const { backlogCount, backlogBytes } = life?.core?.metrics() ?? {};
      if (backlogCount === found.ready + found.delayed && backlogBytes === found.bytes) return undefined;
      return `a backlog of ${backlogCount} with ${backlogBytes} bytes is reported, it is another`;
    }
    const { readyCount, delayedCount, leasedCount, waitingBytes } = queue;
    return (
      `ready ${readyCount}, delayed ${delayedCount}, leased ${leasedCount}, bytes ${waitingBytes} are counted; ` +
      `${found.ready}, ${found.delayed}, ${found.leased}, ${found.bytes} are there`
    );
  },
};
