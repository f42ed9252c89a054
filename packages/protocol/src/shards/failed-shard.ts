/** Member of an error that a call of a shard's object has thrown. */
const FAILED_SHARD = "failedShard";

/** Notes on an error which shard's object has thrown it. Returns the same error, which its catchers recognise. */
export function noteFailedShard(error: unknown, shard: number): unknown {
  if (error instanceof Error && Object.isExtensible(error)) {
    // Not enumerable: it is not printed with the error.
    Object.defineProperty(error, FAILED_SHARD, { value: shard, enumerable: false, configurable: true });
  }
  return error;
}

/** The shard whose object has thrown an error, as `noteFailedShard` has noted; `null` for any other error. */
export function failedShardOf(error: unknown): number | null {
  const shard = (error as { readonly [FAILED_SHARD]?: unknown } | null | undefined)?.[FAILED_SHARD];
  return typeof shard === "number" ? shard : null;
}
