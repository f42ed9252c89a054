import { buildTopology, QUEUE_KEYS, type WorkerQueueConfig } from "@sluice/config";
import type { QueueTopology } from "@sluice/protocol";
import { CliError } from "../errors.ts";
import { canonical, FORMAT, type ProjectEntry, type QueueTables, type Register } from "./register.ts";

/** A project as its files describe it, with the Workers that a command names. */
export interface OwnProject {
  readonly name: string;
  readonly entry: ProjectEntry;
  /** Files of the project, which errors name. */
  readonly files: readonly WorkerQueueConfig[];
}

/**
 * Makes the register for a deployment of a project: the Workers that the command names have the tables of their files,
 * all others those of the live register.
 *
 * @param broker name of the broker's Worker.
 * @param live register of the broker on the account; `null` where there is none.
 * @param detach Workers of the project that the broker forgets.
 * @throws CliError where the broker, or one of the Workers, belongs to another project.
 */
export function joinRegister(
  broker: string,
  live: Register | null,
  own: OwnProject,
  detach: readonly string[] = [],
): Register {
  const { [own.name]: before, ...others } = live?.projects ?? (Object.create(null) as Register["projects"]);
  const named = Object.keys(own.entry.workers);
  if (before === undefined) refuseStranger(broker, own, others);
  refuseTaken(own, named, others);
  for (const worker of detach) refuseDetaching(worker, named, before, own.name);
  const kept = Object.entries(before?.workers ?? {}).filter(([worker]) => !detach.includes(worker));
  const workers = { ...Object.fromEntries(kept), ...own.entry.workers };
  refuseSecondConfiguration(own, others);
  return { format: FORMAT, by: own.name, projects: { ...others, [own.name]: { ...own.entry, workers } } };
}

/**
 * Removes a project's named Workers from a register, and the project where it has no other Workers. Returns the same
 * object where it has none of these Workers.
 *
 * @throws CliError where one of the Workers belongs to another project.
 */
export function leaveRegister(live: Register, own: OwnProject): Register {
  const { [own.name]: before, ...others } = live.projects;
  const gone = Object.keys(own.entry.workers);
  refuseTaken(own, gone, others);
  if (before === undefined || !gone.some((worker) => before.workers[worker] !== undefined)) return live;
  const workers = Object.fromEntries(
    Object.entries(before.workers).filter(([worker]) => !gone.includes(worker)),
  );
  const isEmpty = Object.keys(workers).length === 0;
  return {
    format: FORMAT,
    by: own.name,
    projects: isEmpty ? others : { ...others, [own.name]: { ...before, workers } },
  };
}

/**
 * Merges the registers of several versions that were uploaded without knowledge of each other, the newest last. Each
 * project's entry comes from its own latest deployment. Returns `null` for no registers.
 */
export function mergeRegisters(registers: readonly Register[]): Register | null {
  const [first = null, ...later] = registers;
  let latest = first;
  for (const { by, projects } of later) {
    const { [by]: _, ...others } = latest?.projects ?? projects;
    const entry = projects[by];
    latest = { format: FORMAT, by, projects: entry === undefined ? others : { ...others, [by]: entry } };
  }
  return latest;
}

/**
 * Makes the topology of all projects in a register.
 *
 * @param own project of the command, whose files replace its tables in the register and are named in errors; `null` to
 *   use the register alone.
 * @throws ConfigError for contradictory settings, CliError where a project sets a queue that another one consumes.
 */
export function topologyOf({ projects }: Register, own: OwnProject | null): QueueTopology {
  const owned = Object.entries(projects).flatMap(([project, { workers, broker }]) => {
    const file = `project "${project}" as deployed`;
    const all = Object.entries(workers).map(([worker, tables]) => deployed(worker, file, tables));
    const brokers = broker === undefined ? [] : [deployed(`${BROKER_OF}${file}`, file, broker.queues)];
    return [...all, ...brokers].map((config) => ({ project, config }));
  });
  const fresh = new Set(own?.files.map(({ workerName }) => workerName));
  /** Whether the files of the command replace a configuration: that of one of its Workers, or of the broker. */
  const isReplaced = ({ project, config: { workerName } }: OwnedConfig) =>
    project === own?.name && (fresh.has(workerName) || workerName.startsWith(BROKER_OF));
  const all = owned
    .filter((one) => !isReplaced(one))
    .concat((own?.files ?? []).map((config) => ({ project: own?.name ?? "", config })));
  const topology = buildTopology(all.map(({ config }) => config));
  refuseForeignSettings(all);
  return canonical(topology);
}

/** Beginning of the name that a broker's own configuration of the register has among those of Workers. */
const BROKER_OF = "the broker of ";

/** A configuration with the name of its project. */
interface OwnedConfig {
  readonly project: string;
  readonly config: WorkerQueueConfig;
}

function deployed(workerName: string, file: string, tables: QueueTables): WorkerQueueConfig {
  return { ...tables, workerName, file, directory: "", env: null, warnings: [] };
}

function refuseStranger(broker: string, { name, entry }: OwnProject, others: Register["projects"]): void {
  const names = Object.keys(others);
  if (names.length === 0) return;
  const served = names.map((other) => `"${other}" (${workersOf(others[other])})`).join(" and ");
  const closed = names.filter((other) => others[other]?.shares !== true);
  if (entry.shares && closed.length === 0) return;
  throw new CliError(
    entry.shares
      ? `The broker "${broker}" on the account serves the project ${served}, and ` +
          `${closed.map((other) => `"${other}"`).join(" and ")} does not say that it shares it. To share it, put ` +
          `broker = "${broker}" below [sluice] in its configuration too, and deploy that first.`
      : `The broker "${broker}" on the account serves the project ${served}. This is the project "${name}". ` +
          `Below [sluice] in a configuration of this one:\n` +
          `  broker = "another-name"  for a broker of its own (or --broker)\n` +
          `  broker = "${broker}"  to share that one; the other project must have this line too\n` +
          `  project = "${names[0]}"  if it is that project, under another name`,
  );
}

function workersOf(entry: ProjectEntry | undefined): string {
  return Object.keys(entry?.workers ?? {}).join(", ") || "no Workers";
}

function refuseTaken({ name }: OwnProject, workers: readonly string[], others: Register["projects"]): void {
  for (const [other, entry] of Object.entries(others)) {
    const taken = workers.filter((worker) => entry.workers[worker] !== undefined);
    if (taken.length === 0) continue;
    throw new CliError(
      `${taken.map((worker) => `"${worker}"`).join(" and ")} on the account belongs to the project "${other}". This is ` +
        `the project "${name}". Give it another name here, or say project = "${other}" below [sluice].`,
    );
  }
}

function refuseDetaching(
  worker: string,
  named: readonly string[],
  before: ProjectEntry | undefined,
  project: string,
): void {
  if (named.includes(worker)) {
    throw new CliError(`"${worker}" is deployed by this command, and --detach names it too.`);
  }
  if (before?.workers[worker] !== undefined) return;
  throw new CliError(
    `--detach names "${worker}", and the broker knows no Worker of the project "${project}" by that name. ` +
      `It knows: ${workersOf(before)}.`,
  );
}

function refuseSecondConfiguration({ name, entry }: OwnProject, others: Register["projects"]): void {
  if (entry.broker === undefined) return;
  const other = Object.keys(others).find((one) => others[one]?.broker !== undefined);
  if (other === undefined) return;
  throw new CliError(
    `The projects "${other}" and "${name}" both have a configuration of the broker's own. Only one of them can.`,
  );
}

/** Refuses settings of a queue that another project consumes: a deployment must not change another one's deliveries. */
function refuseForeignSettings(all: readonly OwnedConfig[]): void {
  const consumedBy = new Map<string, string>();
  for (const { project, config } of all) {
    for (const { queue } of config.consumers) consumedBy.set(queue, project);
    for (const [queue, { push }] of Object.entries(config.queueSettings)) {
      if (push !== undefined) consumedBy.set(queue, project);
    }
  }
  for (const { project, config } of all) {
    for (const [queue, settings] of Object.entries(config.queueSettings)) {
      const consumer = consumedBy.get(queue);
      if (consumer === undefined || consumer === project) continue;
      const own = all.filter((one) => one.project === consumer).map((one) => one.config.queueSettings[queue]);
      for (const [key, spelling] of QUEUE_KEYS) {
        if (settings[key] === undefined || own.some((one) => one?.[key] !== undefined)) continue;
        throw new CliError(
          `The project "${project}" sets "${spelling}" of the queue "${queue}", which the project "${consumer}" ` +
            `consumes and does not set. The settings of a queue belong to the project that consumes it.`,
        );
      }
    }
  }
}
