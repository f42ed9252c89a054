import type { Checker } from "./checker.ts";

/**
 * Messages of a group of a FIFO queue leave in the order in which they were sent: when one leaves, every earlier one of its
 * group has left for good or is before it in its batch (spec sqs 4.2).
 */
export const groupOrder: Checker = {
  property: "group order",

  departs({ ledger, definition }, { messages }) {
    if (definition.fifo === undefined) return undefined;
    const left = new Set<number>();
    for (const message of messages) {
      if (message === undefined) continue;
      for (const other of ledger.present()) {
        if (other.group !== message.group || other.seq >= message.seq || left.has(other.tag)) continue;
        return `message ${message.tag} leaves before message ${other.tag} of its group`;
      }
      left.add(message.tag);
    }
    return undefined;
  },
};
