/** Contents of a stored shape: a data folder as a release left it behind. */
export interface StoredShape {
  /** Time of the writing, as ISO 8601. */
  readonly at: string;
  /** Bodies by queue, in order; of the large body only its first word. */
  readonly queues: Readonly<Record<string, readonly string[]>>;
  /** Bodies that are leased in `orders`. */
  readonly leased: readonly string[];
  /** ARNs of topics. */
  readonly topics: readonly string[];
  /** Alerts that are on, with the reports that wait for the webhook. Absent where the broker has none. */
  readonly alerts?: {
    readonly on: readonly { readonly queue: string; readonly alert: string; readonly since: string }[];
    readonly waiting: number;
  };
}
