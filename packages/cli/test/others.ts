import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where other versions of Wrangler are, and what else only the whole check needs: frameworks, tools of a release. */
export const OTHERS = fileURLToPath(new URL("../../../check/node_modules", import.meta.url));
/** Whether they are installed: `pnpm -C check install`. */
export const HAS_OTHERS = existsSync(OTHERS);

/** Folder of a Wrangler of another version. */
export function otherWrangler(version: string): string {
  return join(OTHERS, `wrangler-${version.replace(/\.\d+$/, "")}`);
}
