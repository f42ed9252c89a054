/**
 * Functions that generate the files of a project and its broker, for programs that have Workers run by something other
 * than Wrangler.
 */
export { lockData } from "./data-lock.ts";
export { CliError } from "./errors.ts";
export { consumerBindings, generateBrokerConfig } from "./generate/broker-config.ts";
export { brokerEntrySource, TOPOLOGY_FILE } from "./generate/broker-entry.ts";
export { BROKER_SETTINGS, setVariables } from "./generate/broker-settings.ts";
export {
  FLAG_DISALLOW_IMPORTABLE_ENV,
  flagsWithRpc,
  type QueueCompatibility,
  queueCompatibility,
} from "./generate/compatibility.ts";
export { devVars } from "./generate/dev-vars.ts";
export {
  ASSETS_BINDING,
  BROKER_BINDING,
  BROKER_CLASS,
  BROKER_NAME,
  CONSUMER_ENTRYPOINT,
  GENERATED_HEADER,
  HIDDEN_BINDINGS,
  LAST_END_VARIABLE,
  PAGE_FILE,
  QUEUES_BINDING,
} from "./generate/names.ts";
export { relativePath } from "./generate/relocate.ts";
export { ENTRY_FILE } from "./generate/worker-config.ts";
export { secretFiles } from "./output/secrets.ts";
export { makeOutputFolder, OUTPUT_FOLDER, writeIfChanged } from "./output/write-plan.ts";
export { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "./planned-end.ts";
export { accessLines, dashboardLinks } from "./report/addresses.ts";
export { type FrontDoor, SLUICE_PATH } from "./runtime/front-door-contract.ts";
export {
  type Admission,
  accessVariables,
  admitInDevelopment,
  isLoopback,
  makeToken,
} from "./serve/admission.ts";
