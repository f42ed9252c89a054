import { dirname } from "node:path";
import type { AlertSettings, R2NotificationSettings, SnsSettings } from "@sluice/protocol";
import { type ConfigDiagnostic, ConfigError } from "../file/diagnostics.ts";
import { type ConfigDocument, readDocument } from "../file/document.ts";
import { CLOUDFLARE_CONFIG, isWorkers, wranglerConfigIn } from "../file/find-config-file.ts";
import { KeyLines } from "../file/lines.ts";
import { placeOf, Report, ROOT } from "../file/report.ts";
import { recordOf, type Table } from "../file/table.ts";
import { type ConvertedConfig, inWordsOfCloudflareConfig } from "./cloudflare-words.ts";
import { type ConsumerConfig, readConsumer } from "./consumer.ts";
import { type ActiveEnvironment, selectEnvironment } from "./environment.ts";
import { type ProducerConfig, readProducer } from "./producer.ts";
import { type CheckedQueues, checkBindingsAreUnique, checkQueues } from "./queues.ts";
import { type QueueSettings, readSluiceTable, refuseSluiceTableInEnvironment } from "./sluice-table.ts";

/** Queues in the configuration of one Worker, and their settings. */
export interface WorkerQueueConfig {
  /** Absolute path of the configuration file; of a configuration in no file, the name that errors show. */
  readonly file: string;
  /** Absolute path of the folder that paths in it are relative to; empty for a Worker as deployed. */
  readonly directory: string;
  /** Name of the Worker, environment suffix included. */
  readonly workerName: string;
  /** The environment in force; `null` for the top level. */
  readonly env: string | null;
  readonly producers: readonly ProducerConfig[];
  readonly consumers: readonly ConsumerConfig[];
  /** The `[sluice.queues]` table, by queue name. */
  readonly queueSettings: Readonly<Record<string, QueueSettings>>;
  /** The `[sluice.sns]` table; absent where there is none. */
  readonly sns?: SnsSettings;
  /** `[[sluice.r2_notifications]]`; absent where there is none. */
  readonly r2Notifications?: readonly R2NotificationSettings[];
  /** The `[sluice.alerts]` table; absent where there is none. */
  readonly alerts?: AlertSettings;
  /** `[sluice] broker`: name of the broker's Worker on an account, environment suffix excluded. */
  readonly broker?: string;
  /** `[sluice] project`: name of the project among those that share a broker. */
  readonly project?: string;
  /** Absolute path of the file that the `[sluice]` table is in, where it is another one. */
  readonly settingsFile?: string;
  /** Absolute paths of further files that the settings are in, a `cron.yaml`. Default: none. */
  readonly dependencies?: readonly string[];
  readonly warnings: readonly ConfigDiagnostic[];
  /** Lines in the file, for diagnostics that concern several files; absent for a Worker that runs elsewhere. */
  readonly lines?: WorkerQueueLines;
}

export interface WorkerQueueLines {
  /** Line of each consumer, in the order of `consumers`; `undefined` where it is not known. */
  readonly consumers: readonly (number | undefined)[];
  /** By queue name. */
  readonly queueSettings: Readonly<Record<string, number | undefined>>;
  readonly sns?: number | undefined;
  readonly broker?: number | undefined;
  readonly project?: number | undefined;
}

export interface ReadWorkerConfigOptions {
  /** The environment, as in `wrangler --env`; absent or empty for the top level. `CLOUDFLARE_ENV` is not read here. */
  readonly env?: string;
}

/**
 * Reads the queues in the configuration file of a Worker (`wrangler.toml`, `.jsonc` or `.json`), with production's
 * defaults filled in.
 *
 * Reports what Wrangler reports, in its words. Numbers out of range and invalid queue names, which Cloudflare refuses
 * only at deploy, are errors too, but only in the environment in force. Keys of no concern to queues are ignored.
 *
 * @param file its path, as `findConfigFile` returns it.
 * @throws ConfigError with all errors, not only the first.
 */
export function readWorkerConfig(file: string, options: ReadWorkerConfigOptions = {}): WorkerQueueConfig {
  return workerConfigIn(readDocument(file), options.env);
}

/**
 * Reads an already parsed configuration that has no file, by the same rules.
 *
 * @param origin name that errors show in the place of a file.
 * @param directory folder that paths in it are relative to. Absolute.
 * @param root the parsed configuration.
 * @throws ConfigError as `readWorkerConfig`.
 */
export function readWorkerTables(origin: string, directory: string, root: Table): WorkerQueueConfig {
  return workerConfigIn({ file: origin, directory, root, lines: new KeyLines() }, undefined);
}

/**
 * Reads the queues of a `cloudflare.config.ts` by the same rules, and the `[sluice]` table of the Wrangler
 * configuration beside it.
 *
 * @param file absolute path.
 * @param converted its content, which Wrangler has converted to keys of its own configurations.
 * @param mode mode that it was evaluated in, "" for none: the environment.
 * @param settingsFolder folder with that Wrangler configuration. Default: of the file.
 * @throws ConfigError as `readWorkerConfig`, with keys as the file has them.
 */
export function readCloudflareConfig(
  file: string,
  converted: ConvertedConfig,
  mode: string,
  settingsFolder = dirname(file),
): WorkerQueueConfig {
  const { root } = converted;
  const document = { file, directory: dirname(file), root, lines: new KeyLines() };
  const beside = wranglerConfigIn(settingsFolder);
  const inItsWords = (text: string) => inWordsOfCloudflareConfig(text, converted);
  const config = workerConfigIn(document, undefined, {
    ...(beside === null ? {} : { settings: readDocument(beside) }),
    inItsWords,
  });
  return { ...config, env: mode === "" ? null : mode };
}

interface ReadingOptions {
  /** File with the `[sluice]` table. Default: the configuration itself. */
  readonly settings?: ConfigDocument;
  /** Rewrites the keys in a text to those of the file. Default: they are those of the file. */
  readonly inItsWords?: (text: string) => string;
}

function workerConfigIn(
  document: ConfigDocument,
  env: string | undefined,
  { settings = document, inItsWords }: ReadingOptions = {},
): WorkerQueueConfig {
  const { root } = document;
  const report = new Report(document, inItsWords);
  const settingsReport = settings === document ? report : new Report(settings);
  if (settings !== document && !isWorkers(settings.root)) refuseOtherKeys(settings.root, settingsReport);

  const active = selectEnvironment(document, env, report);
  const queues = checkActiveQueues(root, active, report);
  checkBindingsAreUnique(queues.producers, report);
  refuseConsumersOfPages(root, active, queues, report);
  const producers = queues.producers.map(({ value, place }) => readProducer(value, place, report));
  const consumers = queues.consumers.map(({ value, place }) => readConsumer(value, place, report));
  refuseSluiceTableInEnvironment(active.table, active.place, report);
  const {
    queues: queueSettings,
    sns,
    r2Notifications,
    alerts,
    broker,
    project,
  } = readSluiceTable(settings.root, settingsReport);

  const diagnostics = [...new Set([report, settingsReport])].flatMap((one) => one.diagnostics);
  if (diagnostics.some(({ severity }) => severity === "error")) throw new ConfigError(diagnostics);
  return {
    file: document.file,
    directory: document.directory,
    workerName: active.workerName,
    env: active.env,
    producers,
    consumers,
    queueSettings: recordOf(queueSettings.map(({ queue, settings }) => [queue, settings])),
    ...(sns === null ? {} : { sns: sns.settings }),
    ...(r2Notifications.length === 0 ? {} : { r2Notifications }),
    ...(alerts === null ? {} : { alerts }),
    ...(broker === null ? {} : { broker: broker.name }),
    ...(project === null ? {} : { project: project.name }),
    ...(settings === document ? {} : { settingsFile: settings.file }),
    ...(settingsReport.dependencies.length === 0 ? {} : { dependencies: settingsReport.dependencies }),
    warnings: diagnostics,
    lines: {
      consumers: queues.consumers.map(({ place }) => report.lineOf(place)),
      queueSettings: recordOf(queueSettings.map(({ queue, place }) => [queue, settingsReport.lineOf(place)])),
      ...(sns === null ? {} : { sns: settingsReport.lineOf(sns.place) }),
      ...(broker === null ? {} : { broker: settingsReport.lineOf(broker.place) }),
      ...(project === null ? {} : { project: settingsReport.lineOf(project.place) }),
    },
  };
}

/** Keys of a Wrangler configuration that has settings of Sluice alone. */
const KEYS_OF_SETTINGS = new Set(["sluice", "$schema"]);

function refuseOtherKeys(root: Table, report: Report): void {
  for (const key of Object.keys(root).filter((each) => !KEYS_OF_SETTINGS.has(each))) {
    report.error(
      placeOf(ROOT, key),
      `Unexpected field "${key}": beside a ${CLOUDFLARE_CONFIG} this file holds a [sluice] table and nothing else, ` +
        "or a Worker with a name.",
    );
  }
}

/**
 * Checks the top level's `queues` table and that of the environment in force, as Wrangler does, and returns the latter.
 * An environment without a `queues` table has no queues.
 */
function checkActiveQueues(root: Table, active: ActiveEnvironment, report: Report): CheckedQueues {
  const topLevel = checkQueues(root.queues, placeOf(ROOT, "queues"), report);
  if (active.place === ROOT) return topLevel;
  const place = placeOf(active.place, "queues");
  if (active.table.queues === undefined && root.queues !== undefined) {
    report.warning(
      place,
      `"queues" exists at the top level, but not on "env.${active.env}".\nThis is not what you probably ` +
        `want, since "queues" is not inherited by environments.\nPlease add "queues" to "env.${active.env}".`,
    );
  }
  return checkQueues(active.table.queues, place, report);
}

/** Pages projects can send to queues, but not consume: refuses consumers. */
function refuseConsumersOfPages(
  root: Table,
  active: ActiveEnvironment,
  queues: CheckedQueues,
  report: Report,
): void {
  if (root.pages_build_output_dir === undefined || queues.consumers.length === 0) return;
  report.error(
    placeOf(placeOf(active.place, "queues"), "consumers"),
    `Configuration file for Pages projects does not support "queues.consumers"`,
  );
}
