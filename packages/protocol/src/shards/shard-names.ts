/** Makes the name of a shard's object. No queue of any dialect can have it, save the queue itself, which is shard 0. */
export function shardName(queue: string, shard: number): string {
  return shard === 0 ? queue : `${queue}#${shard}`;
}

/** Whether an object is one of a queue's shards other than the first: no dialect lists it. */
export function isShard(object: string): boolean {
  return object.includes("#");
}

/** The queue and the shard that an object keeps. */
export function shardOf(object: string): { readonly queue: string; readonly shard: number } {
  const at = object.indexOf("#");
  if (at < 0) return { queue: object, shard: 0 };
  return { queue: object.slice(0, at), shard: Number(object.slice(at + 1)) };
}

/** Makes the name by which a caller that goes by a map calls a shard: an object with a later map refuses the call. */
export function shardAddress(queue: string, shard: number, epoch: number): string {
  return `${shardName(queue, shard)}@${epoch}`;
}

/** Reads the name that an object was called by. `epoch` is `null` where the caller goes by no map. */
export function readShardAddress(name: string): { readonly object: string; readonly epoch: number | null } {
  const at = name.lastIndexOf("@");
  if (at < 0) return { object: name, epoch: null };
  return { object: name.slice(0, at), epoch: Number(name.slice(at + 1)) };
}

/**
 * Length of the beginning of a receipt, a lease id or a ref, in which any letter, digit, "-" or "_" may stand. The
 * number of a shard stands behind it.
 */
export const TOKEN_LENGTH = 34;

/** Makes a shard's token one of the queue. Tokens of shard 0 stay as they are. */
export function tokenOfQueue(token: string, shard: number): string {
  return shard === 0 ? token : `${token}-${shard}`;
}

/** Finds the shard that a token of the queue belongs to, and the token as that shard made it. */
export function tokenOfShard(text: string): { readonly token: string; readonly shard: number } {
  // In a receipt the time of its receive stands before the shard, in digits and letters.
  const suffix = /-[1-9]\d?$/.exec(text.slice(TOKEN_LENGTH))?.[0];
  if (suffix === undefined) return { token: text, shard: 0 };
  return { token: text.slice(0, -suffix.length), shard: Number(suffix.slice(1)) };
}
