import type { QueueRecord } from "@sluice/protocol";

/** State of a queue in the directory. */
export type QueueStatus =
  | { readonly kind: "known"; readonly record: QueueRecord }
  /**
   * There is no queue of that name: nobody created it, or it was deleted. `asOf` is the latest revision of all queues
   * then: what was said under an earlier one of this name is over. Absent: said by a directory of an earlier build.
   */
  | { readonly kind: "absent"; readonly asOf?: number };
