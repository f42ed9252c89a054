import { alterStore } from "./alter.ts";
import type { PlantedBug } from "./planted-bug.ts";

/** Mistakes in what queues are, what they are told of it, and what they make of that. */
export const DIRECTORY_BUGS: readonly PlantedBug[] = [
  {
    name: "a queue that could not be told what it is counts as told",
    property: "directory",
    directory: "tellsOnce",
  },
  {
    name: "queues that are to be told what they are count as told",
    property: "directory",
    directory: "tellsNobody",
  },
  {
    name: "that a queue was deleted is forgotten at once",
    property: "directory",
    directory: "forgetsDeletions",
  },
  {
    name: "a queue confirms what it is told before that is stored",
    property: "directory",
    directory: "confirmsUnstored",
  },
  {
    name: "a queue that is created again goes on with what the deleted one has left",
    property: "directory",
    directory: "keepsDeleted",
  },
  {
    name: "a queue drops what it holds when it is changed",
    property: "directory",
    directory: "dropsAlways",
  },
  {
    name: "a queue goes by whatever it was told last",
    property: "directory",
    directory: "goesBack",
  },
  {
    name: "a queue that goes by a change does not store it",
    property: "directory",
    wrapPorts: (ports, { registered, disk }) => {
      if (registered !== null && disk.readRecord() !== null) disk.writeRecord = () => {};
      return alterStore(ports, {});
    },
  },
];
