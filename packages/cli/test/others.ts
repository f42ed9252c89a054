import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder with other versions of Wrangler and with packages that only the whole check needs, such as frameworks. */
export const OTHERS = fileURLToPath(new URL("../../../check/node_modules", import.meta.url));
/** Whether that folder is installed, by `pnpm -C check install`. */
export const HAS_OTHERS = existsSync(OTHERS);

/** Returns the folder of a Wrangler of another version. */
export function otherWrangler(version: string): string {
  return join(OTHERS, `wrangler-${version.replace(/\.\d+$/, "")}`);
}
