import type { SnsSettings } from "@sluice/protocol";
import { type ConfigDiagnostic, ConfigError } from "../file/diagnostics.ts";
import { type ConfigDocument, readDocument } from "../file/document.ts";
import { KeyLines } from "../file/lines.ts";
import { placeOf, Report, ROOT } from "../file/report.ts";
import { recordOf, type Table } from "../file/table.ts";
import { type ConsumerConfig, readConsumer } from "./consumer.ts";
import { type ActiveEnvironment, selectEnvironment } from "./environment.ts";
import { type ProducerConfig, readProducer } from "./producer.ts";
import { type CheckedQueues, checkBindingsAreUnique, checkQueues } from "./queues.ts";
import { type QueueSettings, readSluiceTable, refuseSluiceTableOf } from "./sluice-table.ts";

/** Queues in the configuration of one Worker, and their settings. */
export interface WorkerQueueConfig {
  /** Absolute path of the configuration file, and of its folder. */
  readonly file: string;
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
  /** `[sluice] broker`: name of the broker's Worker on an account, environment suffix excluded. */
  readonly broker?: string;
  /** `[sluice] project`: name of the project among those that share a broker. */
  readonly project?: string;
  readonly warnings: readonly ConfigDiagnostic[];
  /** Where things stand in the file, for diagnostics that concern several files. */
  readonly lines?: WorkerQueueLines;
}

export interface WorkerQueueLines {
  /** Index for index with `consumers`. */
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
 * defaults filled in (spec cloudflare-queues 3).
 *
 * Errors and warnings of Wrangler are reported in its words. Faults that production refuses only at deploy are errors
 * here: numbers out of range and invalid queue names, both for the environment in force alone. Keys that have nothing
 * to do with queues are ignored.
 *
 * @param file its path, as `findConfigFile` returns it.
 * @throws ConfigError with everything that is wrong, not just the first of it.
 */
export function readWorkerConfig(file: string, options: ReadWorkerConfigOptions = {}): WorkerQueueConfig {
  return readDocumentOfWorker(readDocument(file), options.env);
}

/**
 * Reads the configuration of a Worker that is in no file, by the same rules.
 *
 * @param origin name that errors show in the place of a file.
 * @param directory folder that paths in it are relative to. Absolute.
 * @param root the parsed configuration.
 * @throws ConfigError as `readWorkerConfig`.
 */
export function readWorkerTables(origin: string, directory: string, root: Table): WorkerQueueConfig {
  return readDocumentOfWorker({ file: origin, directory, root, lines: new KeyLines() }, undefined);
}

function readDocumentOfWorker(document: ConfigDocument, env: string | undefined): WorkerQueueConfig {
  const { root } = document;
  const report = new Report(document);

  const active = selectEnvironment(document, env, report);
  const queues = checkActiveQueues(root, active, report);
  checkBindingsAreUnique(queues.producers, report);
  refuseConsumersOfPages(root, active, queues, report);
  const producers = queues.producers.map(({ value, place }) => readProducer(value, place, report));
  const consumers = queues.consumers.map(({ value, place }) => readConsumer(value, place, report));
  refuseSluiceTableOf(active.table, active.place, report);
  const { queues: queueSettings, sns, broker, project } = readSluiceTable(root, report);

  if (report.hasErrors) throw new ConfigError(report.diagnostics);
  return {
    file: document.file,
    directory: document.directory,
    workerName: active.workerName,
    env: active.env,
    producers,
    consumers,
    queueSettings: recordOf(queueSettings.map(({ queue, settings }) => [queue, settings])),
    ...(sns === null ? {} : { sns: sns.settings }),
    ...(broker === null ? {} : { broker: broker.name }),
    ...(project === null ? {} : { project: project.name }),
    warnings: report.diagnostics,
    lines: {
      consumers: queues.consumers.map(({ place }) => report.lineOf(place)),
      queueSettings: recordOf(queueSettings.map(({ queue, place }) => [queue, report.lineOf(place)])),
      ...(sns === null ? {} : { sns: report.lineOf(sns.place) }),
      ...(broker === null ? {} : { broker: report.lineOf(broker.place) }),
      ...(project === null ? {} : { project: report.lineOf(project.place) }),
    },
  };
}

/**
 * Checks the `queues` table of the environment in force, and the top level's too, as Wrangler does. Environments do not
 * inherit it: one that lacks it has no queues.
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

/** Pages projects produce to queues; nothing ever calls a queue handler of theirs. */
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
