/** Parts of an object that do not depend on its host, for one with its own time and disk: `apps/soak`. */
export { copyOf } from "./instance/copy.ts";
export { Instance, type InstanceStorage, type Methods, type ObjectState } from "./instance/instance.ts";
export { InstanceEndedError, never } from "./instance-ended.ts";
export { Database, IN_MEMORY, type SqlValue, type Written } from "./sqlite/database.ts";
export { Sql } from "./sqlite/sql.ts";
