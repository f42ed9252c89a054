import { inPorts, type PlantedBug } from "../world/planted-bug.ts";
import { alterStore, everyNth } from "./alter.ts";

/** Mistakes in writing rows, and in waiting until they are durable. */
export const STORE_BUGS: readonly PlantedBug[] = [
  {
    ...inPorts("acknowledged survives", "answers do not wait until the commit is durable", (ports) =>
      alterStore(ports, { synced: () => Promise.resolve() }),
    ),
    gateIsOpen: true,
  },
  inPorts("acked is final", "the row of a segment stays when its last message is acknowledged", (ports) =>
    alterStore(ports, { deleteSegment: () => {} }),
  ),
  inPorts(
    "one live lease",
    "every epoch of a queue counts as its first, so lease ids come again",
    (ports) => ({ ...alterStore(ports, { readEpoch: () => 0 }), epochKnown: 0 }),
  ),
  inPorts("reload", "now and then the state of a segment is not written", (ports) => {
    const isSkipped = everyNth(5);
    return alterStore(ports, {
      writeState: (id, state) => {
        if (!isSkipped()) ports.store.writeState(id, state);
      },
      writeOwnState: (id, state) => {
        if (!isSkipped()) ports.store.writeOwnState(id, state);
      },
    });
  }),
  inPorts("dead-letter move", "the intent of a dead-letter move is not written", (ports) =>
    alterStore(ports, { insertOutbox: () => {} }),
  ),
  inPorts("conservation", "a segment that takes more messages keeps its old payload", (ports) =>
    alterStore(ports, {
      replaceSegment: (id, index, _, state) => {
        const payload = ports.store.readPayload(id);
        if (payload !== null) ports.store.replaceSegment(id, index, payload, state);
      },
    }),
  ),
];
