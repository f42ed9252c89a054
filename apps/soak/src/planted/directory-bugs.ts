import { alterStore } from "./alter.ts";
import { inDirectory, inPorts, type PlantedBug } from "./planted-bug.ts";

/** Mistakes in what queues are, what they are told of it, and what they make of that. */
export const DIRECTORY_BUGS: readonly PlantedBug[] = [
  inDirectory("directory", "a queue that could not be told what it is counts as told", "tellsOnce"),
  inDirectory("directory", "queues that are to be told what they are count as told", "tellsNobody"),
  inDirectory("directory", "that a queue was deleted is forgotten at once", "forgetsDeletions"),
  inDirectory("directory", "a queue confirms what it is told before that is stored", "confirmsUnstored"),
  inDirectory(
    "directory",
    "a queue that is created again goes on with what the deleted one has left",
    "keepsDeleted",
  ),
  inDirectory("directory", "a queue drops what it holds when it is changed", "dropsAlways"),
  inDirectory("directory", "a queue goes by whatever it was told last", "goesBack"),
  inPorts("directory", "a queue that goes by a change does not store it", (ports, { registered, disk }) => {
    if (registered !== null && disk.readRecord() !== null) disk.writeRecord = () => {};
    return alterStore(ports, {});
  }),
];
