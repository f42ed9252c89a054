import { counts } from "@sluice/engine";
import type { Ledger } from "../ledger/ledger.ts";
import { runOfTag } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/**
 * A queue says "stored" to a producer, and "taken" to another queue, only of messages that a crash cannot take away.
 */
export const acknowledgedSurvives: Checker = {
  property: "acknowledged survives",

  acknowledged({ ledger }, { firstTag, count }) {
    const tags = Array.from({ length: count }, (_, i) => firstTag + i);
    return missing(ledger, tags, "is answered as stored and is not durable");
  },

  taken(queue, { tags }) {
    const kept = tags.filter((tag) => !queue.canHaveBeenOver(tag) && !queue.ledger.passedOn.has(tag));
    return missing(queue.ledger, kept, "is answered as taken and is not durable");
  },
};

function missing(ledger: Ledger, tags: readonly number[], what: string): string | undefined {
  const tag = tags.find((tag) => !ledger.messages.has(tag));
  return tag === undefined ? undefined : `message ${tag} ${what}`;
}

/**
 * Checker of acknowledgements: a message that the holder of its lease has acknowledged is gone with the next commit,
 * and never delivered again.
 */
export const ackedIsFinal: Checker = {
  property: "acked is final",

  changed(_queue, { message, before, ending, after }) {
    if (after.status === "gone") return undefined;
    if (ending?.kind === "acked") return `message ${message.tag} is still there after its acknowledgement`;
    return before.status === "gone" ? `message ${message.tag} was gone and is back` : undefined;
  },

  committed({ ledger }, { ignored, record }) {
    const kept = ignored.find(({ ending }) => ending.kind === "acked");
    if (kept !== undefined) return `message ${kept.message.tag} is still there after its delete`;
    for (const message of ledger.present()) {
      if (message.view.status !== "leased") continue;
      const delivery = ledger.deliveries.get(message.view.leaseId);
      if (delivery?.verdictFor(message, record.epoch, record.version)?.kind !== "ack") continue;
      return `message ${message.tag} is still leased after its acknowledgement`;
    }
    return undefined;
  },

  departs(_queue, { messages, isVisible }) {
    // A message that was received and left visible may have died at the next receive of the same turn.
    const gone = messages.find(
      (message) => message?.view.status === "gone" && !(isVisible && message.departure === "dead"),
    );
    return gone === undefined ? undefined : `message ${gone.tag} is ${gone.departure} and delivered again`;
  },
};

/**
 * Nothing comes from nowhere and nothing goes without a reason: what a queue has accepted is waiting, leased,
 * acknowledged, dead, moved or expired. A request is stored as a whole or not at all.
 */
export const conservation: Checker = {
  property: "conservation",

  accepted({ world, ledger, index, name }, { tag, copies }) {
    const transmission = world.transmissions.get(tag);
    const copy = world.copies.get(tag);
    const moved = world.moved.get(tag);
    if (moved !== undefined) {
      return moved.target === name && copies > 1 ? `message ${tag} is stored ${copies} times` : undefined;
    }
    if (transmission === undefined && runOfTag(tag) === null && copy === undefined)
      return `message ${tag} was never sent`;
    if (transmission !== undefined && transmission.queue !== index) return undefined;
    if (copy !== undefined && copy.target !== name) return undefined;
    if (copies > 1) return `message ${tag} is stored ${copies} times`;
    if (transmission === undefined) return undefined;
    // The first and the last message stand for all: if either is missing, the request was not stored as a whole.
    const { firstTag, count } = transmission;
    const other = tag === firstTag ? firstTag + count - 1 : firstTag;
    return ledger.messages.has(other)
      ? undefined
      : `message ${tag} is stored without ${other} of the same request`;
  },

  changed(_queue, { message, before, after }) {
    if (before.status !== "gone" && after.status === "gone" && message.departure === "lost") {
      return `message ${message.tag} is gone, and nobody acknowledged it, nor was it dead or expired`;
    }
    return before.status === "gone" && after.status !== "gone"
      ? `message ${message.tag} came back`
      : undefined;
  },

  departs(_queue, { tags, messages }) {
    const unknown = tags.find((_, i) => messages[i] === undefined);
    return unknown === undefined ? undefined : `message ${unknown} is delivered and was never accepted`;
  },

  afterEvent({ ledger, disk, epoch }) {
    const { accepted, waiting, leased, acked, dead, moved, expired, deleted } = ledger.counts;
    if (accepted !== waiting + leased + acked + dead + moved + expired + deleted) {
      return `what has become of messages does not add up: ${JSON.stringify(ledger.counts)}`;
    }
    const queue = epoch?.core?.queue;
    if (queue === undefined || !disk.isSynced) return undefined;
    const live = counts(queue);
    if (live.ready + live.delayed === waiting && live.leased === leased) return undefined;
    return `the queue counts ${JSON.stringify(live)}, but ${waiting} wait and ${leased} are leased`;
  },
};
