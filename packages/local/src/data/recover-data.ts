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
 * Makes a data folder usable for a broker: creates its folders, safe from power cuts, and recovers its directory.
 * Prints what it found damaged or lost. On a full disk it also shrinks the objects' files. The caller holds the
 * folder's lock, and no broker runs on it yet.
 */
export async function recoverData(
  { folder, broker, reserve }: DataToRecover,
  printer: Printer,
): Promise<void> {
  const objects = join(folder, OBJECTS_FOLDER);
  const isNew = readdirSync(objects).length === 0;
  // workerd would make these folders without a sync: a power cut could take away all that is in them.
  for (const name of Object.values(uniqueKeysOf(broker))) {
    mkdirSync(join(objects, name), { recursive: true, mode: FOLDER_MODE });
  }
  syncFolder(objects);
  watchKept(folder, broker);
  // Nothing is stored yet, and loading the recovery takes time.
  if (isNew) return;
  const { recoverDirectory, shrinkObjectFiles } = await loadRecovery();
  const warn = (line: string) => printer.warn(line);
  if (reserve.isFull) shrinkObjectFiles(objects, warn);
  try {
    recoverDirectory({ folder: objects, worker: broker, warn });
  } catch (error) {
    // The broker reports what is really wrong: it may be able to run.
    printer.warn(`Directory: whether its file is whole cannot be found out: ${error}`);
  }
}
