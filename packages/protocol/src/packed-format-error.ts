/** Bytes that are not a packed batch: a bug or a damaged row, never a user's mistake. */
export class PackedFormatError extends Error {
  override readonly name = "PackedFormatError";
}
