import { join } from "node:path";
import { makeOutputFolder, OUTPUT_FOLDER, writePlan } from "@sluice/project/files/write-plan";
import { devVars } from "@sluice/project/generate/dev-vars";
import { makePlan } from "@sluice/project/generate/plan";
import { ownVariablesOf } from "@sluice/project/generate/variables";
import { LAST_END_VARIABLE, STACKS_VARIABLE } from "@sluice/project/names";
import { ConfigReader } from "@sluice/project/read/config-reader";
import { type Project, readProject } from "@sluice/project/read/project";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";
import { endpointVariables } from "@sluice/protocol";
import type { V4WorkerOptions } from "miniflare";
import type { End } from "../data/planned-end.ts";
import { filesOfOthers, processFolder } from "../generation/generation.ts";
import type { HostService } from "../http/host-service.ts";
import { pageArchive } from "../page.ts";
import type { Session, Sessions } from "../processes/sessions.ts";
import { runtimeModules } from "../runtime-modules.ts";
import { brokerWorker } from "../workerd/worker-options.ts";

interface SendersInput {
  /** Configuration files of the Workers that this process sends for. Absolute. */
  readonly senders: readonly string[];
  readonly env: string;
  /** Name of the broker under which the data are stored; `null` for that of the files. */
  readonly brokerName: string | null;
  readonly workingDirectory: string;
  readonly sessions: Sessions;
  /** Whether a session uses the broker of this process. */
  isUser(session: Session): boolean;
}

/** Reads the queues of this process's broker, and their consumers in other processes. */
export async function readSenders(input: SendersInput) {
  const { senders, env, brokerName, workingDirectory, sessions } = input;
  const others = filesOfOthers(sessions, env, (session) => input.isUser(session));
  const own = new ConfigReader();
  // A broken configuration is left out: opening its proxy has failed with the error.
  await Promise.all(senders.map((file) => own.queues(file, env).catch(() => null)));
  const modules = await own.modules();
  const filesSending = [...new Set([...senders, ...others.filesSending])];
  const project = await readProject({
    targets: [],
    withoutTargets: "senders-alone",
    env,
    workingDirectory,
    brokerName,
    ...others,
    filesSending,
    modulesElsewhere: { ...others.modulesElsewhere, ...modules },
  });
  const files = [...filesSending, ...others.filesJoined, ...others.filesElsewhere];
  return { project, modules, watched: [...files, ...project.dependencies, ...(await own.dependencies())] };
}

interface LinkBrokerInput {
  /** The data folder. Absolute. */
  readonly data: string;
  readonly lastEnd: End;
  readonly stacks: HostService;
}

/** Returns the folder that this process's broker is generated into: one for each data folder. Absolute. */
export function linkBrokerFolder(project: Project, data: string): string {
  const { directory } = project.broker;
  return join(directory, OUTPUT_FOLDER, "proxy", processFolder(project, data, directory));
}

/** Generates the broker of this process as options for Miniflare. Its consumers run in a `sluice dev`. */
export async function generateLinkBroker(
  project: Project,
  { data, lastEnd, stacks }: LinkBrokerInput,
): Promise<V4WorkerOptions> {
  const { broker, topology } = project;
  const root = join(broker.directory, OUTPUT_FOLDER);
  const plan = makePlan(project, "serve", {
    outputDirectory: linkBrokerFolder(project, data),
    workingDirectory: broker.directory,
    runtime: runtimeModules(),
    page: await pageArchive(),
    defaults: await wranglerDefaults(),
    environment: process.env,
  });
  makeOutputFolder(root);
  writePlan(plan);
  const own = broker.file === null ? {} : await ownVariablesOf(plan.broker);
  const environment = { ...process.env, [LAST_END_VARIABLE]: lastEnd, [STACKS_VARIABLE]: stacks.url };
  return brokerWorker(plan, { ...own, ...devVars(undefined, environment, endpointVariables(topology)) });
}
