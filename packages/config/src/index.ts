export type { ConsumerConfig } from "./consumer.ts";
export { type ConfigDiagnostic, ConfigError, formatDiagnostic } from "./diagnostics.ts";
export { CONFIG_FILE_NAMES, findConfigFile } from "./find-config-file.ts";
export type { ProducerConfig } from "./producer.ts";
export { type DaemonTasks, daemonSettings } from "./push-table.ts";
export type { QueueSettings } from "./sluice-table.ts";
export { buildTopology } from "./topology.ts";
export {
  type ReadWorkerConfigOptions,
  readWorkerConfig,
  type WorkerQueueConfig,
  type WorkerQueueLines,
} from "./worker-config.ts";
