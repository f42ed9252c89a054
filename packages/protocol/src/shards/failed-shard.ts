/** Member of an error that a call of a shard's object has thrown. */
const FAILED_SHARD = "failedShard";

/** Notes on an error whose object has thrown it. It stays the same error, with all that its catchers look for. */
export function noteFailedShard(error: unknown, shard: number): unknown {
  if (error instanceof Error && Object.isExtensible(error)) {
    // Whoever prints the error does not see it.
    Object.defineProperty(error, FAILED_SHARD, { value: shard, enumerable: false, configurable: true });
  }
  return error;
}

/** The shard whose object has thrown an error, as `noteFailedShard` has noted; `null` for any other error. */
export function failedShardOf(error: unknown): number | null {
  const shard = (error as { readonly [FAILED_SHARD]?: unknown } | null | undefined)?.[FAILED_SHARD];
  return typeof shard === "number" ? shard : null;
}
