import { counts } from "@sluice/engine";
import { runOfTag } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/**
 * Nothing comes from nowhere and nothing goes without a reason: what a queue has accepted is waiting, leased, acknowledged,
 * dead, moved or expired. A request is stored as a whole or not at all.
 */
export const conservation: Checker = {
  property: "conservation",

  committed({ world, ledger, index, name }, { accepted, changes }) {
    for (const { tag, copies } of accepted) {
      const transmission = world.transmissions.get(tag);
      const isSent = transmission !== undefined || runOfTag(tag) !== null || world.copies.has(tag);
      if (world.moved.get(tag)?.target === name && copies > 1)
        return `message ${tag} is stored ${copies} times`;
      if (world.moved.get(tag) !== undefined) continue;
      if (!isSent) return `message ${tag} was never sent`;
      if (transmission !== undefined && transmission.queue !== index) continue;
      if (world.copies.has(tag) && world.copies.get(tag)?.target !== name) continue;
      if (copies > 1) return `message ${tag} is stored ${copies} times`;
      if (transmission === undefined) continue;
      const { firstTag, count } = transmission;
      // The first and the last stand for all: if either is missing, its request was cut.
      for (const other of tag === firstTag ? [firstTag + count - 1] : [firstTag]) {
        if (!ledger.messages.has(other))
          return `message ${tag} is stored without ${other} of the same request`;
      }
    }
    for (const { message, before, after } of changes) {
      if (before.status !== "gone" && after.status === "gone" && message.departure === "lost") {
        return `message ${message.tag} is gone, and nobody acknowledged it, nor was it dead or expired`;
      }
      if (before.status === "gone" && after.status !== "gone") return `message ${message.tag} came back`;
    }
    return undefined;
  },

  departs(_queue, { tags, messages }) {
    const unknown = tags.find((_, i) => messages[i] === undefined);
    return unknown === undefined ? undefined : `message ${unknown} is delivered and was never accepted`;
  },

  afterEvent({ ledger, disk, life }) {
    const { accepted, waiting, leased, acked, dead, moved, expired, deleted } = ledger.counts;
    if (accepted !== waiting + leased + acked + dead + moved + expired + deleted) {
      return (
        `${accepted} accepted, ${waiting} waiting, ${leased} leased, ${acked} acked, ${dead} dead, ${moved} moved, ` +
        `${expired} expired, ${deleted} deleted`
      );
    }
    const queue = life?.core?.queue;
    if (queue === undefined || disk.durableVersion !== disk.committedVersion) return undefined;
    const live = counts(queue);
    if (live.ready + live.delayed === waiting && live.leased === leased) return undefined;
    return (
      `the queue counts ${live.ready} ready, ${live.delayed} delayed and ${live.leased} leased, ` +
      `but ${waiting} wait and ${leased} are leased`
    );
  },
};
