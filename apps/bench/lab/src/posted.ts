/** Counts of the poster's sends. */
export interface Posted {
  readonly tookMs: number;
  readonly calls: number;
  readonly messages: number;
  /** Commits of the objects, those for other work included. */
  readonly commits: number;
  readonly rowsWritten: number;
  /** Time of each call in ms. */
  readonly callMs: readonly number[];
}
