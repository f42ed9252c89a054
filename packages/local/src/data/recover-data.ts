import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { uniqueKeysOf } from "@sluice/broker-worker/unique-keys";
import { syncFolder } from "@sluice/objects/folders";
import { loadRecovery } from "../node/load-modules.ts";
import type { Printer } from "../report/printer.ts";
import { FOLDER_MODE, OBJECTS_FOLDER, watchKept } from "./data-lock.ts";
import type { Reserve } from "./reserve.ts";

interface DataToRecover {
  /** The data folder. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly broker: string;
  readonly reserve: Reserve;
}

/**
 * Makes what is kept in a data folder usable, and keeps power cuts from taking it away. Says what it found damaged or
 * lost. Before a broker runs on it, by whoever holds its lock. On a full disk, what is kept gives back the room that it
 * does not need.
 */
export async function recoverData(
  { folder, broker, reserve }: DataToRecover,
  printer: Printer,
): Promise<void> {
  const objects = join(folder, OBJECTS_FOLDER);
  const isNew = readdirSync(objects).length === 0;
  // workerd makes these, too, but does not sync their names: a power cut would take away all that is in them.
  for (const name of Object.values(uniqueKeysOf(broker))) {
    mkdirSync(join(objects, name), { recursive: true, mode: FOLDER_MODE });
  }
  syncFolder(objects);
  watchKept(folder, broker);
  // Nothing to load what looks into it for: nobody has kept anything yet.
  if (isNew) return;
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
