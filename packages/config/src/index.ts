export { type ConfigDiagnostic, ConfigError, errorAt, formatDiagnostic } from "./file/diagnostics.ts";
export { CONFIG_FILE_NAMES, findConfigFile } from "./file/find-config-file.ts";
export type { ConsumerConfig } from "./tables/consumer.ts";
export type { ProducerConfig } from "./tables/producer.ts";
export { daemonSettings } from "./tables/push-table.ts";
export type { QueueSettings } from "./tables/sluice-table.ts";
export {
  readWorkerConfig,
  readWorkerTables,
  type WorkerQueueConfig,
} from "./tables/worker-config.ts";
export { type DeploymentNames, deploymentNames } from "./topology/deployment-names.ts";
export { QUEUE_KEYS } from "./topology/merge-settings.ts";
export { buildTopology } from "./topology/topology.ts";
