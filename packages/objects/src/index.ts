export {
  type ObjectDatabase,
  objectFile,
  objectIdsIn,
  shrinkObjectFiles,
  withObjectFile,
} from "./files/object-files.ts";
export { idOfName } from "./files/object-id.ts";
export { type Repaired, repairObjectFile } from "./files/repair-object-file.ts";
export { type Binding, type ObjectClass, type Objects, openObjects } from "./objects.ts";
export type { Disk } from "./sqlite/room.ts";
