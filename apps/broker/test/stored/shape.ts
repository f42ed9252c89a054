/** Contents of a stored shape: a data folder as a release has left it behind. */
export interface StoredShape {
  /** When it was written, as ISO 8601. */
  readonly at: string;
  /** Bodies by queue, in order; of a long one its first word. */
  readonly queues: Readonly<Record<string, readonly string[]>>;
  /** Bodies that are leased in `orders`. */
  readonly leased: readonly string[];
  /** ARNs. */
  readonly topics: readonly string[];
}
