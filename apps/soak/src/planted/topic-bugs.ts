import { isTopicObject } from "@sluice/protocol";
import { alterStore, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in how a topic reaches the queues that subscribe. */
export const TOPIC_BUGS: readonly PlantedBug[] = [
  {
    name: "now and then a copy for one of the queues is left out",
    property: "fan-out",
    changeCore: ({ name, outbox }) => {
      if (!isTopicObject(name)) return;
      const { put } = outbox;
      const isLeftOut = everyNth(5);
      outbox.put = (target, payload) => {
        if (!isLeftOut()) put.call(outbox, target, payload);
      };
    },
  },
  {
    name: "a publish is answered and the intents of its copies are not written",
    property: "fan-out",
    wrapPorts: (ports, { isTopic }) => (isTopic ? alterStore(ports, { insertOutbox: () => {} }) : ports),
  },
  {
    name: "copies count as taken as soon as they are sent",
    property: "fan-out",
    wrapPorts: (ports, { isTopic }) =>
      isTopic
        ? {
            ...ports,
            handOver: (target, handOver) => {
              ports.handOver(target, handOver).catch(() => {});
              return Promise.resolve({ takenTo: (handOver.more?.at(-1) ?? handOver).id, refused: null });
            },
          }
        : ports,
  },
  {
    name: "copies that come again are taken again",
    property: "fan-out",
    changeCore: ({ outbox }) => {
      outbox.takenFrom = () => 0;
    },
  },
  {
    name: "a queue that is gone forgets what it has passed on",
    property: "fan-out",
    changeCore: ({ outbox }, { gone }) => {
      if (gone !== null) outbox.takenFrom = () => 0;
    },
  },
  {
    name: "a FIFO topic takes what has the deduplication id of an earlier message",
    property: "fan-out",
    changeCore: ({ deduplication }, { isTopic }) => {
      if (isTopic) deduplication.find = () => null;
    },
  },
];
