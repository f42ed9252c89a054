export { type Mended, mendObjectFile } from "./mend-object-file.ts";
export { type ObjectDatabase, objectFile, objectIdsIn, withObjectFile } from "./object-files.ts";
export { idOfName } from "./object-id.ts";
export { type Binding, type ObjectClass, type Objects, openObjects } from "./objects.ts";
