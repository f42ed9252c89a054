import { readdirSync } from "node:fs";
import { join } from "node:path";
import { OBJECTS_FOLDER } from "./data-lock.ts";
import type { Printer } from "./report/printer.ts";
import { loadRecovery } from "./serve/alone/load-modules.ts";

/**
 * Makes what is kept in a data folder usable, and says what it found damaged or lost. Before a broker runs on it, by whoever
 * holds its lock.
 *
 * @param broker name of the broker's Worker.
 */
export async function recoverData(folder: string, broker: string, printer: Printer): Promise<void> {
  const objects = join(folder, OBJECTS_FOLDER);
  // Nothing to load what looks into it for: nobody has kept anything yet.
  if (readdirSync(objects).length === 0) return;
  const { recoverDirectory } = await loadRecovery();
  try {
    recoverDirectory({ folder: objects, worker: broker, warn: (line) => printer.warn(line) });
  } catch (error) {
    // The broker has to say what that comes to: it may do well.
    printer.warn(`Directory: whether its file is whole cannot be found out: ${error}`);
  }
}
