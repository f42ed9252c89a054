import { createHash } from "node:crypto";
import { join } from "node:path";
import { folderName, makePlan, type Plan } from "@sluice/project/generate/plan";
import { type Project, readProject } from "@sluice/project/read/project";
import type { BrokerOwnership } from "../data/broker-ownership.ts";
import { dataFolderOf } from "../data/data-folder.ts";
import type { CommandPlaces } from "../places.ts";
import { entryName } from "../processes/registry.ts";
import type { Session, Sessions } from "../processes/sessions.ts";
import { variableFiles } from "./variables.ts";
import type { Watched } from "./watch.ts";
import { type Writing, write } from "./write.ts";

/** Result of one reading of the files of this process's Workers and of other processes' Workers. */
export interface Generation {
  readonly project: Project;
  readonly plan: Plan;
  /** Files and folders whose change can change the result of the next reading. */
  readonly watched: readonly Watched[];
}

interface GenerationInput {
  readonly targets: readonly string[];
  /** The environment, "" for the top level. */
  readonly env: string;
  readonly places: CommandPlaces;
  readonly purpose: "dev" | "serve";
  /** The data folder. Absolute. Default: the project's. */
  readonly data?: string;
  /** Files of variables that `--env-file` names; none unless given. */
  readonly envFiles?: readonly string[];
  /** Registry of `sluice dev` processes; `null` for a process that shares no broker. */
  readonly sessions: Sessions | null;
  /** Ownership of the data folder's broker; `null` until it is decided. */
  readonly ownership: BrokerOwnership | null;
  /** The project as just read without other processes. It is read again only where they have a part in it. */
  readonly read?: Project;
  /** Refuses a project by throwing, before any file is written. Default: none is refused. */
  readonly check?: (project: Project) => Promise<unknown>;
  /** Writes the files. Default: `write` in this process. */
  readonly write?: (writing: Writing) => void | Promise<void>;
}

/**
 * Reads the user's Workers, with the queues and settings of other processes' Workers that concern them, and writes what
 * Wrangler is to run.
 *
 * @throws ConfigError or CliError for files that cannot be used; nothing has been written then.
 */
export async function generate(input: GenerationInput): Promise<Generation> {
  const { targets, env, places, sessions, ownership } = input;
  const { workingDirectory } = places;
  const others = filesOfOthers(sessions, env, (session) => ownership?.isUsedBy(session) === true);
  const brokerName = ownership?.brokerName ?? null;
  const { modulesElsewhere: _, ...files } = others;
  const filesElsewhere = Object.values(files).flat();
  const isAlone = brokerName === null && filesElsewhere.length === 0;
  const project =
    isAlone && input.read !== undefined
      ? input.read
      : await readProject({ targets, env, workingDirectory, brokerName, ...others });
  await input.check?.(project);
  const writing = writingOf(project, input);
  await (input.write ?? write)(writing);
  const { workers, broker } = project;
  const folders = [
    ...workers.map(({ userDirectory }) => userDirectory),
    ...(broker.file === null ? [] : [broker.directory]),
  ];
  const variables = folders.flatMap((folder) => variableFiles(folder, env, writing.envFiles));
  const watched = watchedBy(project, [...filesElsewhere, ...variables], sessions);
  return { project, plan: writing.plan, watched };
}

/** Writes what Wrangler is to run for a project that was read. */
export function writeGenerated(project: Project, input: WritingInput): Plan {
  const writing = writingOf(project, input);
  write(writing);
  return writing.plan;
}

type WritingInput = Pick<GenerationInput, "env" | "places" | "purpose" | "data" | "envFiles">;

function writingOf(project: Project, input: WritingInput): Writing {
  const { env, places, purpose, data = dataFolderOf(project, undefined), envFiles = [] } = input;
  const ownFolder = processFolder(project, data, places.workingDirectory);
  const outputDirectory = join(places.outputDirectory, ownFolder);
  const plan = makePlan(project, purpose, { ...places, outputDirectory });
  return { root: places.root, plan, isBrokerMadeUp: project.broker.file === null, env, envFiles };
}

/** Lists the configuration files of a project: its Workers', the broker's last. */
export function configFilesOf({ workers, broker }: Project): string[] {
  return [...workers.map(({ file }) => file), ...(broker.file === null ? [] : [broker.file])];
}

/**
 * Lists configuration files of other sessions: of the Workers that they run, and of the Workers that they send for
 * without running them. `modulesElsewhere` has what those sessions have read of files that are modules.
 *
 * @param isUser whether a session uses the broker of this process.
 */
export function filesOfOthers(sessions: Sessions | null, env: string, isUser: (session: Session) => boolean) {
  const others = (sessions?.others() ?? []).filter((session) => session.env === env);
  const joined = others.filter(isUser);
  return {
    filesJoined: joined.flatMap(({ files }) => files),
    filesSending: [...new Set(joined.flatMap(({ senders = [] }) => senders))],
    filesElsewhere: others.filter((session) => !joined.includes(session)).flatMap(({ files }) => files),
    modulesElsewhere: Object.fromEntries(others.flatMap(({ modules = {} }) => Object.entries(modules))),
  };
}

/** Length of the hash in the name of a folder, in hexadecimal digits. */
const MARK_LENGTH = 8;

/**
 * Names the folder of a process's generated files after its first Worker. The name is the process's alone, since a
 * Worker runs once on a data folder. A hash is added where another process's Worker may have the same name: outside of
 * the current folder, on another data folder than the default, or in an environment that the name does not show.
 *
 * @param workingDirectory the current folder. Absolute.
 */
export function processFolder(project: Project, data: string, workingDirectory: string): string {
  const first = project.workers[0];
  const name = first === undefined ? project.broker.name : folderName(first);
  const directory = first?.userDirectory ?? workingDirectory;
  const env = first?.queues.env ?? "";
  const isUsual = directory === workingDirectory && data === dataFolderOf(project, undefined);
  if (isUsual && (env === "" || [`-${env}`, `.${env}`].some((end) => name.endsWith(end)))) return name;
  const mark = createHash("sha256")
    .update(JSON.stringify([directory, data, env]))
    .digest("hex");
  return `${name}.${mark.slice(0, MARK_LENGTH)}`;
}

function watchedBy(project: Project, more: readonly string[], sessions: Sessions | null): Watched[] {
  // The generated entry of a main module without a default export names one of its other exports.
  const named = project.workers.flatMap(({ main }) => (main.kind === "named-only" ? [main.file] : []));
  const files = [...new Set([...configFilesOf(project), ...project.dependencies, ...named, ...more])];
  return [
    ...files.map((path) => ({ kind: "file", path }) as const),
    ...(sessions === null
      ? []
      : [{ kind: "folder", path: sessions.folder, except: entryName({ pid: process.pid }) } as const]),
  ];
}
