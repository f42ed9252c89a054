/** Map that the caller of an object with shards goes by. */
export interface CallerMap {
  /** Its epoch; `null` for a caller without a map. */
  readonly epoch: number | null;
  /** Within a turn, before anything is done: refuses the call if the object goes by a later map. @throws ShardMapError */
  check(): void;
}
