import { inDirectory, inPorts, inStore, type PlantedBug } from "../world/planted-bug.ts";
import { alterStore } from "./alter.ts";

/** Mistakes of the directory in calling queues, and of queues in following its records. */
export const DIRECTORY_BUGS: readonly PlantedBug[] = [
  inDirectory("directory", "a queue that could not be told what it is counts as told", "tellsOnce"),
  inDirectory("directory", "queues that are to be told what they are count as told", "tellsNobody"),
  inDirectory("directory", "that a queue was deleted is forgotten at once", "forgetsDeletions"),
  {
    ...inPorts("directory", "a queue confirms what it is told before that is stored", (ports) =>
      alterStore(ports, { synced: () => Promise.resolve() }),
    ),
    gateIsOpen: true,
  },
  inStore(
    "directory",
    "a queue that is created again goes on with what the deleted one has left",
    (store, { registered }) => {
      if (registered !== null) store.drop = () => {};
    },
  ),
  inDirectory("directory", "a queue drops what it holds when it is changed", "dropsAlways"),
  {
    property: "directory",
    name: "a queue goes by whatever it was told last",
    changeRegistration: (registration) => {
      registration.isOutdated = () => false;
    },
  },
  inStore("directory", "a queue that goes by a change does not store it", (store, { registered }) => {
    if (registered !== null && store.readRecord() !== null) store.writeRecord = () => {};
  }),
];
