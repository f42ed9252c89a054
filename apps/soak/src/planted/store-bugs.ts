import { alterStore, everyNth } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in what is written, and when it is believed to be durable. */
export const STORE_BUGS: readonly PlantedBug[] = [
  {
    name: "answers do not wait until the commit is durable",
    property: "acknowledged survives",
    hasNoOutputGate: true,
    wrapPorts: (ports) => alterStore(ports, { synced: () => Promise.resolve() }),
  },
  {
    name: "answers leave an object that takes a platform for granted which would hold them back",
    property: "acknowledged survives",
    hasNoOutputGate: true,
  },
  {
    name: "the row of a segment stays when its last message is acknowledged",
    property: "acked is final",
    wrapPorts: (ports) => alterStore(ports, { deleteSegment: () => {} }),
  },
  {
    name: "every life of a queue counts as its first, so lease ids come again",
    property: "one live lease",
    wrapPorts: (ports) => alterStore(ports, { readEpoch: () => 0 }),
  },
  {
    name: "now and then the state of a segment is not written",
    property: "reload",
    wrapPorts: (ports) => {
      const isSkipped = everyNth(5);
      return alterStore(ports, {
        writeState: (id, state) => {
          if (!isSkipped()) ports.store.writeState(id, state);
        },
      });
    },
  },
  {
    name: "the intent of a dead-letter move is not written",
    property: "dead-letter move",
    wrapPorts: (ports) => alterStore(ports, { insertOutbox: () => {} }),
  },
  {
    name: "a segment that takes more messages keeps its old payload",
    property: "conservation",
    wrapPorts: (ports) =>
      alterStore(ports, {
        replaceSegment: (id, index) => {
          const payload = ports.store.readPayload(id);
          if (payload !== null) ports.store.replaceSegment(id, index, payload);
        },
      }),
  },
];
