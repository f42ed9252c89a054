import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadRecovery } from "../node/load-modules.ts";
import type { Printer } from "../report/printer.ts";
import { OBJECTS_FOLDER } from "./data-lock.ts";
import type { Reserve } from "./reserve.ts";

interface DataToRecover {
  /** The data folder. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly broker: string;
  readonly reserve: Reserve;
}

/**
 * Makes what is kept in a data folder usable, and says what it found damaged or lost. Before a broker runs on it, by
 * whoever holds its lock. On a full disk, what is kept gives back the room that it does not need.
 */
export async function recoverData(
  { folder, broker, reserve }: DataToRecover,
  printer: Printer,
): Promise<void> {
  const objects = join(folder, OBJECTS_FOLDER);
  // Nothing to load what looks into it for: nobody has kept anything yet.
  if (readdirSync(objects).length === 0) return;
  const { recoverDirectory, shrinkObjectFiles } = await loadRecovery();
  const warn = (line: string) => printer.warn(line);
  if (reserve.isFull) shrinkObjectFiles(objects, warn);
  try {
    recoverDirectory({ folder: objects, worker: broker, warn });
  } catch (error) {
    // The broker has to say what that comes to: it may do well.
    printer.warn(`Directory: whether its file is whole cannot be found out: ${error}`);
  }
}
