/** Map that the caller of an object with shards goes by. */
export interface CallerMap {
  /** Its epoch; `null` for a caller without a map. */
  readonly epoch: number | null;
  /** Refuses the call if the object has a later map. Called first within a turn. @throws ShardMapError */
  check(): void;
}
