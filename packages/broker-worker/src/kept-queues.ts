import { existsSync } from "node:fs";
import { join } from "node:path";
import { DIRECTORY_NAME, readKnown, type Sql } from "@sluice/broker/recovery";
import { idOfName, objectFile, withObjectFile } from "@sluice/objects";
import { isShard } from "@sluice/protocol";
import { uniqueKeysOf } from "./unique-keys.ts";

interface KeptQueuesInput {
  /** Folder of all Durable Objects of a data folder, which no other process may use meanwhile. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
}

/** Names the queues of a data folder by its directory, in order; none where that cannot be read. */
export function queuesKeptIn({ folder, worker }: KeptQueuesInput): readonly string[] {
  const { directory } = uniqueKeysOf(worker);
  const file = objectFile(join(folder, directory), idOfName(directory, DIRECTORY_NAME));
  if (!existsSync(file)) return [];
  try {
    // The part of the platform's database that is used.
    const { rows } = withObjectFile(file, ({ sql }) => readKnown(sql as unknown as Sql));
    return [...rows.values()]
      .flatMap((row) => (row.kind === "queue" && !isShard(row.record.name) ? [row.record.name] : []))
      .sort();
  } catch {
    return [];
  }
}
