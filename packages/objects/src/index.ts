export {
  type ObjectDatabase,
  objectFile,
  objectIdsIn,
  shrinkObjectFiles,
  withObjectFile,
} from "./files/object-files.ts";
export { idOfName } from "./files/object-id.ts";
export { repairObjectFile } from "./files/repair-object-file.ts";
export { nodeHost } from "./host.ts";
export type { ObjectState } from "./instance/instance.ts";
export { type Binding, type Objects, openObjects } from "./objects.ts";
export type { Disk } from "./sqlite/room.ts";
