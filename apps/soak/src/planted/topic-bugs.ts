import { isTopicObject } from "@sluice/protocol";
import { inCore, inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterStore, everyNth } from "./alter.ts";

/** Mistakes in the way of copies from a topic to its queues. */
export const TOPIC_BUGS: readonly PlantedBug[] = [
  inCore("fan-out", "now and then a copy for one of the queues is left out", ({ name, outbox }) => {
    if (!isTopicObject(name)) return;
    const { put } = outbox;
    const isLeftOut = everyNth(5);
    outbox.put = (target, records) => {
      if (!isLeftOut()) put.call(outbox, target, records);
    };
  }),
  inPorts(
    "fan-out",
    "a publish is answered and the intents of its copies are not written",
    (ports, { isTopic }) => (isTopic ? alterStore(ports, { insertOutbox: () => {} }) : ports),
  ),
  inPorts("fan-out", "copies count as taken as soon as they are sent", (ports, { isTopic }) =>
    isTopic
      ? {
          ...ports,
          transfer: (target, transfer) => {
            ports.transfer(target, transfer).catch(() => {});
            return Promise.resolve({ takenTo: (transfer.more?.at(-1) ?? transfer).id, refused: null });
          },
        }
      : ports,
  ),
  inCore("fan-out", "copies that come again are taken again", ({ inbox }) => {
    inbox.acceptedFrom = () => 0;
  }),
  inCore("fan-out", "a queue that is gone forgets what it has passed on", ({ inbox }, { gone }) => {
    if (gone !== null) inbox.acceptedFrom = () => 0;
  }),
  inCore(
    "fan-out",
    "a FIFO topic takes what has the deduplication id of an earlier message",
    ({ deduplication }, { isTopic }) => {
      if (isTopic) deduplication.find = () => null;
    },
  ),
];
