import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { checkSettings } from "@sluice/project/generate/check-settings";
import type { Plan } from "@sluice/project/generate/plan";
import { brokerVariables, ownVariablesOf } from "@sluice/project/generate/variables";
import { LAST_END_VARIABLE } from "@sluice/project/names";
import { refuseMissingMain } from "@sluice/project/read/missing-main";
import { type Project, readProject } from "@sluice/project/read/project";
import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { endpointVariables, parsePublicUrl, type QueueTopology } from "@sluice/protocol";
import { drain } from "../broker/drain.ts";
import { tellClock, tellDisk, tellStop } from "../broker/tell-broker.ts";
import { QueueWaker } from "../broker/wake-queues.ts";
import { dataFolderOf } from "../data/data-folder.ts";
import { lockData, OBJECTS_FOLDER } from "../data/data-lock.ts";
import { refuseLongPath } from "../data/long-path.ts";
import { announceEnd, type End, forgetPlannedEnd, lastEndIn } from "../data/planned-end.ts";
import { recoverData } from "../data/recover-data.ts";
import { Reserve, type RoomListener } from "../data/reserve.ts";
import { writeGenerated } from "../generation/generation.ts";
import type { Ingress } from "../http/ingress.ts";
import { findPlaces } from "../places.ts";
import { foldersOf, registerBroker } from "../processes/running-brokers.ts";
import { accessLines, addresses, awsLines, httpUrl } from "../report/addresses.ts";
import type { Printer } from "../report/printer.ts";
import { type LogFormat, openServerLog, type ServerLog } from "../report/server-log.ts";
import { topologyTable } from "../report/topology-table.ts";
import { type Admission, admit } from "../settings/admission.ts";
import { chosenEnvironment } from "../settings/environment.ts";
import { runStandalone } from "../standalone/run-standalone.ts";
import type { Runtime } from "../watchdog/keep-running.ts";
import { runOnWorkerd } from "../workerd/run-on-workerd.ts";
import { type ClockListener, MachineClock } from "./machine-clock.ts";
import { stopOnSignals } from "./stop.ts";

const SERVE_PORT_DEFAULT = 8787;
const SERVE_HOST_DEFAULT = "127.0.0.1";

export interface ServeOptions {
  /** Folders or configuration files of Workers; none stands for the broker alone. The first one owns the port. */
  readonly targets: readonly string[];
  /** Port to listen on; 0 for a free one. Default 8787. */
  readonly port?: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** Default: `.wrangler/state` beside the first configuration, where `sluice dev` keeps it. */
  readonly persistTo?: string;
  readonly env?: string;
  /** Port on 127.0.0.1 for debuggers and profilers. Default: none. */
  readonly inspectorPort?: number;
  /** Default `text`. */
  readonly logFormat?: LogFormat;
  /** Line to print last, once the broker answers and signals stop it in order. Default: none. */
  readonly readyLine?: string;
}

/** Additions of another command that runs `serve`. */
interface ServeMore {
  /** Name of the command. Default: `sluice serve`. */
  readonly command?: string;
  /** Queues besides those of the configurations. */
  readonly queues?: QueueTopology["queues"];
  /** Default variables of the broker: its own and the environment's override them. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Warnings about its own options. */
  readonly warnings?: readonly string[];
  /** Returns the text to print when the broker runs, instead of the addresses. */
  readonly introduction?: (url: string) => string;
}

/**
 * Runs `sluice serve`: the broker in this process or, if any of the user's Workers are named, the broker and these
 * Workers on workerd. A Worker answers about ten times as many requests a second as through Wrangler's proxies (the
 * package's README has the figures).
 *
 * Resolves to the exit code when that has ended: 0 if this process was told to stop.
 *
 * @throws ConfigError or CliError for files that cannot be used, bindings that need more than workerd, a port in
 *   use, or data that another process has.
 */
export async function serve(options: ServeOptions, printer: Printer, more: ServeMore = {}): Promise<number> {
  const log = openServerLog(options.logFormat ?? "text", printer);
  try {
    return await serveWithLog(options, log, more);
  } finally {
    log.close();
  }
}

async function serveWithLog(options: ServeOptions, log: ServerLog, more: ServeMore): Promise<number> {
  const { targets, host = SERVE_HOST_DEFAULT, port = SERVE_PORT_DEFAULT } = options;
  for (const warning of more.warnings ?? []) log.warn(warning);
  takeWranglerOf(
    [process.cwd(), ...targets],
    anyWrangler((text) => log.warn(text)),
  );
  const env = chosenEnvironment(options.env, process.env);
  const project = await readProject({
    targets,
    env,
    workingDirectory: process.cwd(),
    withoutTargets: "broker-alone",
    ...(more.queues === undefined ? {} : { queues: more.queues }),
  });
  refuseMissingMain(project.workers);
  const state = dataFolderOf(project, options.persistTo);
  if (project.workers.length > 0) refuseLongPath(state);
  const command = more.command ?? "sluice serve";
  const free = lockData(state, command);
  const reserve = new Reserve(state, (line) => log.warn(line));
  const clock = new MachineClock(state, (line) => log.warn(line));
  try {
    const lastEnd = lastEndIn(state);
    // After the lock is taken: another process may run on the same generated files.
    const plan = await generated(project, env, state);
    await recoverData({ folder: state, broker: project.broker.name, reserve }, log);
    for (const warning of project.warnings) log.warn(warning);
    if (targets.length > 0) log.introduce(`${topologyTable(project.topology, [])}\n`);
    const { topology } = project;
    const running = await run(
      { broker: project.broker.name, plan },
      {
        state,
        host,
        port,
        inspectorPort: options.inspectorPort ?? null,
        topology,
        lastEnd,
        vars: more.vars ?? {},
        reserve,
        clock,
        log,
      },
    );
    const { ingress, brokerVars, admission } = running;
    const { headers } = admission;
    const url = httpUrl(host, ingress.port);
    const unregister = registerBroker(process.env, {
      command,
      url,
      data: state,
      folders: foldersOf(project, process.cwd()),
    });
    reserve.watch(running.room);
    if (running.clock !== null) clock.watch(running.clock);
    const introduction = more.introduction?.(url);
    log.introduce(
      introduction === undefined ? addresses(url, project, state) : `${introduction}\ndata    ${state}`,
      { command, url, data: state },
    );
    if (targets.length === 0 && more.introduction === undefined) {
      const { origin, path } = parsePublicUrl(String(brokerVars.SLUICE_PUBLIC_URL ?? "")) ?? {
        origin: url,
        path: "",
      };
      const address = `${origin}${path}`;
      log.introduce(
        `\nFor AWS's SDKs (the AWS CLI takes --endpoint-url, clients that know no path take ${address}):\n` +
          awsLines(address, brokerVars),
      );
    }
    log.introduce(`\n${accessLines(admission, host)}`);
    // A queue with messages, or with tasks to send, goes on once its object is called.
    const waker = new QueueWaker();
    waker.wake(url, topology, headers);
    const finish = async (signal: AbortSignal, by: NodeJS.Signals) => {
      log.print(`${by}: ${command} ends when it has answered the requests under way.`);
      if (await running.answers()) announceEnd(state, log);
      else log.warn(SILENT_AT_END);
      await drain({ url, headers, topology, printer: log, signal });
      await tellStop(url, headers, signal);
      await ingress.stop(signal);
    };
    const stopped = stopOnSignals(running.process, finish).finally(() => {
      unregister();
      waker.stop();
      ingress.destroy();
    });
    // After the signals are handled: a reader of this line may send one at once.
    if (options.readyLine !== undefined) log.introduce(options.readyLine);
    const code = await stopped;
    log.print(`${command} has ended${code === 0 ? "" : ` with code ${code}`}.`);
    return code;
  } finally {
    clock.close();
    reserve.close();
    free();
  }
}

/**
 * Writes the generated files; `null` for a broker alone without a configuration, which needs none. Wrangler, which
 * takes most of a second to load, is not loaded then.
 */
async function generated(project: Project, env: string, data: string): Promise<Plan | null> {
  if (project.workers.length === 0 && project.broker.file === null) return null;
  const places = await findPlaces("serve", process.cwd());
  return writeGenerated(project, { env, places, purpose: "serve", data });
}

interface ToRun {
  /** Name of the broker's Worker. */
  readonly broker: string;
  /** The generated plan; `null` for a broker alone without a configuration. */
  readonly plan: Plan | null;
}

interface Run {
  readonly state: string;
  readonly host: string;
  readonly port: number;
  /** `null` for none. */
  readonly inspectorPort: number | null;
  readonly topology: QueueTopology;
  /** How the last broker on the data folder has ended. */
  readonly lastEnd: End;
  /** Default variables of the broker: its own and the environment's override them. */
  readonly vars: Readonly<Record<string, string>>;
  readonly reserve: Reserve;
  readonly clock: MachineClock;
  readonly log: ServerLog;
}

/** Broker that was started, with its runtime, its ingress and any Workers beside it. */
interface Started {
  readonly process: Runtime;
  readonly ingress: Ingress;
  /** Passes on to the broker whether the disk is full. */
  readonly room: RoomListener;
  /** Tells the broker how far its time is behind the system's clock; `null` where it uses this process's clock. */
  readonly clock: ClockListener | null;
  /** Whether the broker answers. If it does not, the deliveries that its end cuts off count as attempts. */
  answers(): Promise<boolean>;
  readonly brokerVars: Readonly<Record<string, unknown>>;
  /** Rules for who may use the broker, and this process's own credentials for it. */
  readonly admission: Admission;
}

async function run({ broker: worker, plan }: ToRun, options: Run): Promise<Started> {
  const { state, host, port, inspectorPort, topology, lastEnd, vars: more, reserve, clock, log } = options;
  const own = plan === null ? {} : await ownVariablesOf(plan.broker);
  const brokerVars = brokerVariables({ ...more, ...own }, process.env, endpointVariables(topology));
  checkSettings(brokerVars);
  const admission = admit(brokerVars, host, randomUUID());
  const vars = { ...admission.vars, SLUICE_SERVED: "true" };
  const starting = () => forgetPlannedEnd(state);
  const how = { host, port, inspectorPort, starting };
  if (plan === null || plan.workers.length === 0) {
    const standalone = await runStandalone({
      ...how,
      objects: join(state, OBJECTS_FOLDER),
      worker,
      topology,
      reserve,
      clock: clock.held,
      vars: lastEnd === "planned" ? { ...vars, [LAST_END_VARIABLE]: lastEnd } : vars,
    });
    return { ...standalone, clock: null, brokerVars, admission };
  }
  const onWorkerd = await runOnWorkerd(plan, { ...how, state, clock: clock.held, vars, lastEnd, log });
  const { process: runtime, ingress, answers } = onWorkerd;
  // Not the port that clients use: these requests neither delay theirs nor count among them.
  const address = () => onWorkerd.brokerUrl;
  return {
    process: runtime,
    ingress,
    answers,
    room: tellDisk(address, admission.headers),
    clock: tellClock(address, admission.headers),
    brokerVars,
    admission,
  };
}

const SILENT_AT_END =
  "The Workers do not answer: a handler may hang. So the deliveries that this end cuts off count as attempts.";
