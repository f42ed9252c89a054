/*
 * A queue can be kept by several objects, its shards. Shard 0 is the object of the queue's name, and all there is of a
 * queue without shards. A map lists the shards. Shard 0 has the current one, and refuses calls by another with it
 * (docs/design/shards.md).
 */

/** Most shards of a queue. */
export const SHARDS_MAX = 100;

/** Which objects keep a queue's messages. A contract: it is stored. Only optional members may be added. */
export interface ShardMap {
  /** Grows with every change of the map, over all queues that ever had this name. */
  readonly epoch: number;
  /** Shards 0 to `open` - 1 take new messages in. */
  readonly open: number;
  /** Shards 0 to `kept` - 1 may hold messages: those from `open` on only until they are empty. */
  readonly kept: number;
  /**
   * Open shards before the last change, as long as groups may still be where that map put them. Absent on a standard
   * queue, and once every group is where it belongs.
   */
  readonly before?: number;
}

/** Whether a map has only shard 0: the queue is called like one that never had shards. */
export function isWhole({ open, kept, before }: ShardMap): boolean {
  return open === 1 && kept === 1 && before === undefined;
}

/** Writes a map as a text of numbers and blanks. */
export function shardMapText({ epoch, open, kept, before }: ShardMap): string {
  const numbers = [epoch, open, kept];
  return (before === undefined ? numbers : [...numbers, before]).join(" ");
}

/** Reads the text of a map; `null` for any other text. */
export function readShardMap(text: string): ShardMap | null {
  if (!/^\d{1,15}( \d{1,3}){2,3}$/.test(text)) return null;
  const [epoch = 0, open = 0, kept = 0, before] = text.split(" ").map(Number);
  const isShards = (count: number) => count >= 1 && count <= SHARDS_MAX;
  if (!isShards(open) || !isShards(kept) || kept < open) return null;
  if (before === undefined) return { epoch, open, kept };
  return isShards(before) ? { epoch, open, kept, before } : null;
}

const SPREAD = "its shards are: ";

/**
 * Error for a call that named no map of the queue, or another one than its object goes by. Nothing was done. The text
 * is a contract between versions of Workers and broker: of an error RPC keeps nothing else.
 */
export class ShardMapError extends Error {
  override readonly name = "ShardMapError";

  constructor(queue: string, map: ShardMap) {
    super(`queue "${queue}" is called by an older map, ${SPREAD}${shardMapText(map)};`);
  }
}

/** Reads the map in a `ShardMapError` that has crossed a call; `null` for any other error. */
export function mapInError(error: unknown): ShardMap | null {
  const text = String(error);
  const from = text.indexOf(SPREAD);
  if (from < 0) return null;
  const [map = ""] = text.slice(from + SPREAD.length).split(";", 1);
  return readShardMap(map);
}
