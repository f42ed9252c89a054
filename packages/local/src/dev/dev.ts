import { dirname, join } from "node:path";
import { isCloudflareConfig } from "@sluice/config";
import { takeEnvFiles } from "@sluice/project/files/env-files";
import { removePath } from "@sluice/project/folders";
import { TOPOLOGY_FILE } from "@sluice/project/generate/broker-entry";
import { generatedConfig, type Plan } from "@sluice/project/generate/plan";
import { LAST_END_VARIABLE, R2_VARIABLE, STACKS_VARIABLE } from "@sluice/project/names";
import { refuseMissingMain } from "@sluice/project/read/missing-main";
import { type Project, readProject } from "@sluice/project/read/project";
import { ChildEnded } from "@sluice/project/wrangler/child";
import { wranglerVersion } from "@sluice/project/wrangler/load-wrangler";
import { registryFolder } from "@sluice/project/wrangler/registry";
import { writeCloudflareTypes } from "@sluice/project/wrangler/wrangler-config";
import { tellDisk } from "../broker/tell-broker.ts";
import { QueueWaker } from "../broker/wake-queues.ts";
import { type BrokerOwner, BrokerOwnership } from "../data/broker-ownership.ts";
import { dataFolderOf } from "../data/data-folder.ts";
import { announceEnd, forgetPlannedEnd, lastEndIn } from "../data/planned-end.ts";
import { recoverData } from "../data/recover-data.ts";
import { Reserve } from "../data/reserve.ts";
import { configFilesOf, type Generation, generate } from "../generation/generation.ts";
import { VariablesWatch } from "../generation/variables.ts";
import { watchFiles } from "../generation/watch.ts";
import { HostService } from "../http/host-service.ts";
import { refusePortInUse } from "../http/port-in-use.ts";
import { findPlaces } from "../places.ts";
import { foldersOf, registerBroker } from "../processes/running-brokers.ts";
import { type Session, sessionsOf } from "../processes/sessions.ts";
import { STOP_SIGNALS } from "../processes/stop-signals.ts";
import { bucketsOf, R2Reports } from "../r2/reports.ts";
import { accessLines, addresses, dashboardLinks, urlOf } from "../report/addresses.ts";
import { agentLines } from "../report/agent-lines.ts";
import type { Printer } from "../report/printer.ts";
import { introducer } from "../report/topology-table.ts";
import { ownSources } from "../runtime-modules.ts";
import { type Admission, accessVariables, isLoopback, tokenIn } from "../settings/admission.ts";
import { chosenEnvironment, wranglerEnvironment } from "../settings/environment.ts";
import { MapsOnDisk } from "../stacks/maps-on-disk.ts";
import { stackNamer } from "../stacks/named-stack.ts";
import { sourceFinder } from "../stacks/stack-frames.ts";
import { readDeliveries } from "../watchdog/in-delivery.ts";
import { silentMsMaxOf } from "../watchdog/silent-ms-max.ts";
import { changesOf } from "./changes.ts";
import { AccessChanges, devAccess, refuseLeading } from "./dev-access.ts";
import { failedLoadText } from "./inside/failed-load.ts";
import type { LinesContext } from "./inside/wrangler-lines.ts";
import { namesakesOf } from "./namesakes.ts";
import { watchNpmShell } from "./npm-shell.ts";
import type { DevOptions } from "./options.ts";
import { RuntimeWatch } from "./runtime-watch.ts";
import { supervise } from "./supervisor.ts";
import type { DevWrangler, Listening } from "./wrangler-process.ts";

/** How often a session that uses another one's broker checks whether that one was killed. Other ends are announced. */
const VACANCY_EVERY_MS = 1_000;

/**
 * Runs the user's Workers and the broker in one `wrangler dev`. Generates its files again when a configuration or
 * another `sluice dev` changes. Resolves to the exit code when Wrangler has ended.
 */
export async function dev(given: DevOptions, child: DevWrangler, printer: Printer): Promise<number> {
  const { files: envFiles, args: ownArguments } = takeEnvFiles(given.wranglerArguments);
  const options = { ...given, wranglerArguments: ownArguments };
  const { targets } = options;
  const workingDirectory = process.cwd();
  const env = chosenEnvironment(options.env, process.env);
  const session = joinSessions(env);
  const runtime = await RuntimeWatch.open({
    silentMsMax: () => silentMsMaxOf(current.plan.workers),
    inDelivery: () => readDeliveries(data, current.project.broker.name),
    printer,
  });
  const r2 = new R2Reports({ data: () => data, url: () => url, headers: () => access.headers, printer });
  const service = new HostService(stackNamer(sourceFinder(new MapsOnDisk()), workingDirectory), {
    "/r2": (buckets) => r2.set(JSON.parse(buckets)),
  });
  // Nothing is written before the data folder is taken: the generated files may be another session's.
  const [project, found] = await Promise.all([
    readProject({ targets, env, workingDirectory }),
    findPlaces("dev", workingDirectory),
    service.listening(),
  ]);
  refuseMissingMain(project.workers);
  const host = hostOf(project, options);
  const asked = portsOf(project, options);
  await refusePortsInUse(asked, host);
  const accessTo = (read: Project) => devAccess(read, { host, env, envFiles, environment: process.env });
  const access = await accessTo(project);
  // The command's own environment, and the URLs at which the broker reaches this process.
  const environment = {
    ...process.env,
    [LAST_END_VARIABLE]: runtime.url,
    [STACKS_VARIABLE]: service.url,
    [R2_VARIABLE]: `${service.url}/r2`,
    ...accessVariables(access),
  };
  const places = { ...found, environment };
  const data = dataFolderOf(project, options.persistTo);
  const ownership = await BrokerOwnership.open({
    data,
    env,
    // Without the broker's own file: sessions that share a broker may share that file, too.
    files: project.workers.map(({ file }) => file),
    sessions: session.all,
    wranglerVersion: wranglerVersion(),
  });
  refuseLeading(ownership.owner, host, access);
  const sessions = session.all;
  const input = { targets, env, places, purpose: "dev", data, sessions, ownership, envFiles } as const;
  const announceSelf = (of: Project) =>
    session.announce({
      files: configFilesOf(of),
      modules: of.modules,
      data,
      broker: ownership.isOwn ? (ownership.brokerName ?? of.broker.name) : null,
    });
  announceSelf(project);
  let url: string | null = null;
  let reserve: Reserve | null = null;
  let isDataReady = false;
  /** Makes the data folder ready for the broker, if the broker is this session's, until that has succeeded once. */
  const prepareData = async () => {
    if (!ownership.isOwn || isDataReady) return;
    reserve?.close();
    reserve = new Reserve(data, (line) => printer.warn(line));
    reserve.watch(tellDisk(() => url, access.headers));
    runtime.lastEnd = lastEndIn(data);
    const broker = ownership.brokerName ?? project.broker.name;
    await recoverData({ folder: data, broker, reserve }, printer);
    await r2.begin(project.topology, bucketsOf(project));
    isDataReady = true;
  };
  await prepareData();
  const introduce = introducer(printer);
  const waker = new QueueWaker();
  const argumentsOf = (plan: Plan) =>
    wranglerArguments(plan, { ...options, ip: host, data, owner: ownership.owner });
  /** Joins all that Wrangler is restarted for. Other changes of its files it sees by itself. */
  const restartsFor = (plan: Plan) => [...argumentsOf(plan), ...consumersIn(plan)].join();
  let current = await generate({ ...input, read: project });
  /** `restartsFor` of the running Wrangler; `null` before the first one. */
  let startedFor: string | null = null;

  const variables = new VariablesWatch(envFiles);
  const accessChanges = new AccessChanges(access);
  const adopt = (next: Generation) => {
    current = next;
    variables.renew(next.plan.workers);
    const { project: read, plan } = next;
    if (ownership.isOwn && read.broker.file !== null && variables.hasChanged(plan.broker)) {
      printer.warn(
        `The variables beside ${read.broker.file} have changed. They count when "sluice dev" is started again.`,
      );
    }
    announceSelf(next.project);
    watch.set(next.watched);
    introduce(next.project);
  };
  /** Wakes the queues of this session's broker; another session's are woken by that session. */
  const wake = () => {
    if (url !== null && ownership.isOwn) waker.wake(url, current.project.topology, access.headers);
  };
  let unregister = () => {};
  const onListening = (listening: Listening) => {
    wrangler.onListening();
    url = urlOf(listening, current.project, options.wranglerArguments);
    unregister();
    const folders = foldersOf(current.project, workingDirectory);
    const token = ownership.isOwn ? tokenIn(access) : null;
    unregister = registerBroker(process.env, {
      command: "sluice dev",
      url,
      data,
      folders,
      ...(token === null ? {} : { token }),
    });
    if (ownership.isOwn) r2.refresh();
    printer.print(addresses(url, current.project));
    const forAgents = agentLines(url, process.env);
    if (forAgents !== null) printer.print(`\n${forAgents}`);
    if (!isLoopback(host)) printer.print(`\n${accessText(access, host, url)}`);
    wake();
    writeTypes();
  };
  const writeTypes = () => {
    for (const { file } of current.project.workers.filter(({ file }) => isCloudflareConfig(file))) {
      // A configuration that is broken by now is reported when it is read.
      writeCloudflareTypes(file, env).catch(() => {});
    }
  };
  let isOver = false;
  const update = async () => {
    if (isOver) return;
    const changed = await ownership.change();
    if (isOver) return;
    if (changed !== null) {
      // Other sessions wait for this announcement.
      announceSelf(current.project);
      printer.print(ownerLine(changed));
    }
    await prepareData();
    // The running broker keeps the access of its start. Reading it again refuses variables that would open the broker.
    let accessNow = access;
    const check = async (read: Project) => {
      accessNow = await accessTo(read);
    };
    const next = await generate({ ...input, check, write: (writing) => child.write(writing) }).catch(
      (error: unknown) => {
        // A broker that this session has just taken over is started by the configuration read before.
        if (!(error instanceof ChildEnded)) restartWhereNeeded();
        throw error;
      },
    );
    if (ownership.isOwn) await r2.begin(next.project.topology, bucketsOf(next.project));
    // Often the change was the end of this session, or of another one at the same moment.
    if (isOver) return;
    adopt(next);
    const notice = ownership.isOwn ? accessChanges.noticeOf(next.project, accessNow) : null;
    if (notice !== null) printer.warn(notice);
    writeTypes();
    if (!restartWhereNeeded()) wake();
  };
  /** Restarts Wrangler for what the running one does not see by itself. Returns whether it did. */
  const restartWhereNeeded = () => {
    if (startedFor === null || restartsFor(current.plan) === startedFor) return false;
    runtime.ending();
    wrangler.restart();
    return true;
  };
  const { onChange } = changesOf(update, { printer, isOver: () => isOver });
  const watch = watchFiles(onChange, (text) => printer.warn(text));

  const vacancy = setInterval(() => {
    // Data that could not be made ready, as on a full disk, are tried again.
    if (ownership.isVacant || (ownership.isOwn && !isDataReady)) onChange();
  }, VACANCY_EVERY_MS);

  adopt(current);
  if (ownership.owner.kind === "joined") printer.print(ownerLine(ownership.owner));
  const names = {
    workers: current.plan.workers.map(({ name }) => name),
    broker: current.plan.broker.name,
    isJoined: ownership.owner.kind === "joined",
    data,
  };
  const namesakes = await namesakesOf(names, session.all.others(), registryFolder(process.env));
  const taken = new Set(namesakes.map(({ name }) => name));
  for (const { line } of namesakes) if (line !== null) printer.warn(line);
  const askedPorts = Object.values(asked).filter((port) => port !== undefined);
  const startOne = () => {
    // Wrangler's process reads configurations, too: its end may have cut off a reading.
    if (startedFor !== null) onChange();
    startedFor = restartsFor(current.plan);
    return child.start({
      args: argumentsOf(current.plan),
      env: wranglerEnvironment(process.env, { host, ...options }),
      lines: { ...linesContext(current.plan, ownership.owner, { workingDirectory, env }), askedPorts },
      taken,
      onListening,
      onWaiting: (worker) => printer.print(`Waiting for a change in the sources of ${worker}.`),
      onLastBuild: (worker) => {
        // The broker's code always builds: its build was only slow.
        if (worker !== current.plan.broker.name) printer.print(`${worker} goes on with its last build.`);
      },
      onFailedLoad: (event) =>
        printer.warn(
          `${failedLoadText(event)}\nWaiting for a change in the sources of ${event.worker}. ` +
            "No Worker runs here until then; messages wait.",
        ),
      onSocketInUse: () => wrangler.startAgain(),
      onStuck: () => {
        runtime.ending();
        wrangler.restart();
      },
      onProxyDied: () => {
        // A terminal's Ctrl-C may have ended it.
        if (isStopping) return;
        printer.warn("The process by which Wrangler takes requests has died. Wrangler is started again.");
        runtime.ending();
        wrangler.restart();
      },
      workerd: {
        mark: runtime.url,
        on: (event) => {
          if (event.kind === "listening") forgetPlannedEnd(data);
          if (event.kind === "listening" && ownership.isOwn) r2.refresh();
          runtime.on(event);
        },
      },
    });
  };
  const wrangler = supervise(startOne, { warn: (text) => printer.warn(text) });
  const announcePlannedEnd = () => {
    if (ownership.isOwn && runtime.lastEnd === "planned") announceEnd(data, printer);
  };
  // Runs before the supervisor passes the signal on: a terminal signals workerd at the same moment.
  let isStopping = false;
  const stop = () => {
    isStopping = true;
    runtime.ending();
    announcePlannedEnd();
  };
  for (const signal of STOP_SIGNALS) process.prependListener(signal, stop);
  // Ends at the first failed write: Wrangler prints an error for each, whose lines would fail in turn.
  let isRead = true;
  const endUnread = () => {
    if (isRead) process.emit("SIGHUP", "SIGHUP");
    isRead = false;
  };
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endUnread);
  const leaveShell = watchNpmShell(() => process.emit("SIGTERM", "SIGTERM"));
  const endSession = () => {
    isOver = true;
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
    // Without a signal where the user ended Wrangler by one of its keys.
    announcePlannedEnd();
    runtime.close();
    service.close();
    r2.close();
    clearInterval(vacancy);
    leaveShell();
    reserve?.close();
    ownership.leave();
    session.leave();
    unregister();
    waker.stop();
    watch.close();
    // Files generated for another data folder go: each run may have a new one.
    if (data !== dataFolderOf(project, undefined)) removePath(dirname(current.plan.broker.directory));
  };
  return wrangler.ended.finally(endSession);
}

/** Adds this process to the registry of sessions until it ends, however it does. */
function joinSessions(env: string) {
  const all = sessionsOf(process.env);
  const self = { pid: process.pid, startedAtMs: Date.now(), env };
  const leave = all.enter({ ...self, files: [], data: null, broker: null });
  const announce = (rest: Omit<Session, keyof typeof self>) => all.announce({ ...self, ...rest });
  return { all, announce, leave };
}

/** Returns the line that says which session has the broker. */
function ownerLine(owner: BrokerOwner): string {
  if (owner.kind === "own") {
    return (
      "The session that had the broker of this data folder has ended. " +
      "The broker runs here now, with all messages."
    );
  }
  const { pid, part } = owner.leader;
  const where = part === undefined ? 'another "sluice dev"' : "a program with getPlatformProxy";
  return `The broker of this data folder runs in ${where} (process ${pid}). These Workers use it.`;
}

/** Returns the names and paths by which the lines of this Wrangler are told apart. */
function linesContext(
  { workers, broker }: Plan,
  owner: BrokerOwner,
  { workingDirectory, env }: { readonly workingDirectory: string; readonly env: string },
): Omit<LinesContext, "askedPorts"> {
  const generatedFolder = dirname(broker.directory);
  return {
    workers: [...workers, ...(owner.kind === "own" ? [broker] : [])].map(({ name }) => name),
    broker: broker.name,
    topologyFile: join(broker.directory, TOPOLOGY_FILE),
    workingDirectory,
    generatedFolder,
    secrets: workers.map(({ directory, userDirectory }) => ({ directory, userDirectory, env })),
    ownSources: [ownSources(), generatedFolder],
  };
}

/** Returns the ports that options or configurations ask for. */
function portsOf({ workers, broker }: Project, options: DevOptions) {
  const settings = (workers[0]?.wrangler ?? broker.wrangler)?.dev;
  return {
    port: options.port ?? settings?.port,
    inspectorPort: options.inspectorPort ?? settings?.inspector_port,
  };
}

/** Refuses requested ports that are in use. Where none is requested, Wrangler takes a free one. */
async function refusePortsInUse(
  { port, inspectorPort }: ReturnType<typeof portsOf>,
  host: string,
): Promise<void> {
  if (port !== undefined) await refusePortInUse({ host, port, option: "--port" });
  if (inspectorPort === undefined) return;
  await refusePortInUse({ host: "127.0.0.1", port: inspectorPort, option: "--inspector-port" });
}

/**
 * Address to listen on. It stays that of the start, whatever a configuration says later: access to the broker was
 * decided by it.
 */
function hostOf({ workers, broker }: Pick<Project, "workers" | "broker">, { ip }: DevOptions): string {
  return ip ?? (workers[0]?.wrangler ?? broker.wrangler)?.dev.ip ?? "localhost";
}

/** Returns who may use a broker that other machines reach, and a link to its dashboard with the generated token. */
function accessText(access: Admission, host: string, url: string): string {
  const token = access.made?.token ?? null;
  const link = token === null ? "" : `\n${dashboardLinks(url, token, { host })}`;
  return `${accessLines(access, host)}${link}`;
}

/**
 * Lists the Workers of this process that the broker calls. Wrangler is restarted for a new one: it would end while the
 * broker already calls an entrypoint that the Worker's last build does not have.
 */
function consumersIn({ workers, broker }: Plan): string[] {
  const called = new Set((generatedConfig(broker).services ?? []).map(({ service }) => service));
  return workers.filter(({ name }) => called.has(name)).map(({ name }) => name);
}

interface ArgumentsOptions extends DevOptions {
  readonly data: string;
  readonly owner: BrokerOwner;
}

function wranglerArguments({ workers, broker }: Plan, options: ArgumentsOptions): string[] {
  const configs = [...workers, ...(options.owner.kind === "own" ? [broker] : [])];
  return [
    "dev",
    ...configs.flatMap(({ configFile }) => ["--config", configFile]),
    ...["--persist-to", options.data],
    ...(options.port === undefined ? [] : ["--port", `${options.port}`]),
    ...(options.ip === undefined ? [] : ["--ip", options.ip]),
    ...(options.inspectorPort === undefined ? [] : ["--inspector-port", `${options.inspectorPort}`]),
    ...options.wranglerArguments,
  ];
}
