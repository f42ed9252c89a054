export {
  type ConfigDiagnostic,
  ConfigError,
  errorAt,
  formatDiagnostic,
  textWithKey,
} from "./file/diagnostics.ts";
export {
  CLOUDFLARE_CONFIG,
  CONFIG_FILE_NAMES,
  findConfigFile,
  isCloudflareConfig,
} from "./file/find-config-file.ts";
export { type ConvertedConfig, inWordsOfCloudflareConfig } from "./tables/cloudflare-words.ts";
export type { ConsumerConfig } from "./tables/consumer.ts";
export type { ProducerConfig } from "./tables/producer.ts";
export { daemonSettings } from "./tables/push-table.ts";
export { areReadModules, queuesOnly, type ReadModules } from "./tables/read-modules.ts";
export type { QueueSettings } from "./tables/sluice-table.ts";
export {
  readCloudflareConfig,
  readWorkerConfig,
  readWorkerTables,
  type WorkerQueueConfig,
} from "./tables/worker-config.ts";
export { type DeploymentNames, deploymentNames } from "./topology/deployment-names.ts";
export { QUEUE_KEYS } from "./topology/merge-settings.ts";
export { buildTopology } from "./topology/topology.ts";
export { unnamedQueues } from "./topology/unnamed-queues.ts";
