import type { QueueRecord } from "@sluice/protocol";

/** State of a queue in the directory. */
export type QueueStatus =
  | { readonly kind: "known"; readonly record: QueueRecord }
  /**
   * There is no queue of that name: it was never created, or it was deleted. `asOf` is the latest revision of all
   * queues then, which ends all earlier records of the name. Absent in the status of a directory of an earlier build.
   */
  | { readonly kind: "absent"; readonly asOf?: number };
