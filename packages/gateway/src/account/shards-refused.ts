/** Why a queue can have only one shard, by the reasons of the directory. */
export const SHARDS_REFUSED = {
  deduplicationScope: "A FIFO queue with more than one shard needs the deduplication scope messageGroup.",
  workerDaemon: "A queue with a worker daemon can have only one shard.",
} as const;
