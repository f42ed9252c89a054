import { PackedIndex } from "@sluice/protocol";
import { alterNumber, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in the queue's logic: a part of a core that has just started is replaced by a wrong one. */
export const CORE_BUGS: readonly PlantedBug[] = [
  {
    name: "a settlement that can wait is never made",
    property: "liveness",
    changeCore: (core) => {
      core.submitForCompany = () => new Promise(() => {});
    },
  },
  {
    name: "all leases have one fencing token",
    property: "one live lease",
    changeCore: ({ queue }) => alterNumber(queue, "nextLeaseId", (_next, last) => last),
  },
  {
    name: "a push lease ends after a second",
    property: "one live lease",
    changeCore: ({ queue }) => {
      queue.rules.pushLeaseMs = 1_000;
    },
  },
  {
    name: "a message has one attempt more than it may",
    property: "attempts",
    changeCore: ({ queue }) => {
      queue.rules.maxRetries += 1;
    },
  },
  {
    name: "attempts are counted anew after a restart",
    property: "attempts",
    changeCore: ({ queue }) => {
      for (const segment of queue.segments.values()) {
        for (const entry of segment.entries) if (entry.state !== "leased") entry.attempts = 0;
      }
    },
  },
  {
    name: "the last message of a request is dropped",
    property: "conservation",
    changeCore: ({ intake }) => {
      const { accept } = intake;
      intake.accept = (incoming) =>
        accept.call(
          intake,
          incoming.map(({ index, delaySeconds }) => ({
            index: new PackedIndex(index.records(0, Math.max(1, index.count - 1)).slice()),
            delaySeconds,
          })),
        );
    },
  },
  {
    name: "now and then a request is stored twice",
    property: "conservation",
    changeCore: ({ intake }) => {
      const { accept } = intake;
      const isTwice = everyNth(3);
      intake.accept = (incoming) => {
        accept.call(intake, incoming);
        if (isTwice()) accept.call(intake, incoming);
      };
    },
  },
  {
    name: "a hand-over that comes again is taken again",
    property: "dead-letter move",
    changeCore: ({ outbox }) => {
      outbox.takenFrom = () => 0;
    },
  },
  {
    name: "while a hand-over is under way nothing would wake the queue after a crash",
    property: "alarm armed",
    changeCore: ({ outbox }) => Object.defineProperty(outbox, "busy", { get: () => false }),
  },
  {
    name: "now and then a ready message is counted twice",
    property: "counters",
    changeCore: ({ queue }) => {
      const isDrifting = everyNth(9);
      alterNumber(queue, "readyCount", (next) => (isDrifting() ? next + 1 : next));
    },
  },
  {
    name: "bytes of messages that are leased stay in the count",
    property: "counters",
    changeCore: ({ queue }) => alterNumber(queue, "waitingBytes", (next, last) => Math.max(next, last)),
  },
  {
    name: "messages are kept for half their retention",
    property: "retention",
    changeCore: ({ queue }) => {
      queue.rules.retentionMs /= 2;
    },
  },
  {
    name: "messages are kept for longer than their retention",
    property: "retention",
    changeCore: ({ queue }) => {
      queue.rules.retentionMs += 60_000;
    },
  },
  {
    name: "the second ready message leaves before the first",
    property: "order",
    changeCore: ({ queue: { ready } }) => {
      const { peek } = ready;
      ready.peek = () => {
        let second = peek.call(ready);
        let seen = 0;
        ready.visitInOrder(({ node }) => {
          second = node;
          seen += 1;
          return seen < 2;
        });
        return second;
      };
    },
  },
  {
    name: "a message in flight does not block its group",
    property: "group order",
    changeCore: ({ queue }) => {
      const { order, isFifo } = queue;
      if (order === null || !isFifo) return;
      const { leaseChanged } = order;
      const unlisted = new Set<string>();
      order.leaseChanged = (segment, from, to, by) => {
        for (let i = from; i < to; i++) {
          const messages = segment.groups?.[i]?.messages;
          const key = `${segment.id}/${i}`;
          if (by === -1 && unlisted.delete(key)) messages?.insert(segment, i, 0);
          if (by === -1 || messages === undefined || messages.length < 2) continue;
          messages.remove(segment, i, 0);
          unlisted.add(key);
        }
        leaseChanged.call(order, segment, from, to, by);
      };
    },
  },
  {
    name: "messages are numbered anew after a restart",
    property: "order",
    changeCore: ({ queue }) => {
      queue.nextSeq = 0;
    },
  },
  {
    name: "the slot of a delivery is never given back",
    property: "liveness",
    changeCore: ({ queue }) => alterNumber(queue.push, "inFlight", (next, last) => Math.max(next, last)),
  },
];
