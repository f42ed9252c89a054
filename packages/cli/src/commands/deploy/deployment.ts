import { type CommandPlaces, findPlaces } from "@sluice/local/places";
import type { Printer } from "@sluice/local/report/printer";
import type { Look } from "@sluice/local/report/table";
import { topologyTable } from "@sluice/local/report/topology-table";
import { chosenEnvironment } from "@sluice/local/settings/environment";
import { CliError } from "@sluice/project/errors";
import { makeOutputFolder, writePlan } from "@sluice/project/files/write-plan";
import { consumersIn, makePlan } from "@sluice/project/generate/plan";
import { brokerOf, ownProject } from "@sluice/project/own-project";
import { refuseMissingMain } from "@sluice/project/read/missing-main";
import { type Project, readProject } from "@sluice/project/read/project";
import type { Register } from "@sluice/project/register/register";
import { type OwnProject, topologyOf } from "@sluice/project/register/serve-projects";
import { takeWranglerOf, type WranglerNeed } from "@sluice/project/wrangler/load-wrangler";
import { type RunWrangler, wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import { askIn } from "@sluice/project/wrangler/wrangler-config";
import type { Surroundings } from "../../surroundings.ts";
import { accountOf, type Credentials, type NamedAccount } from "./account.ts";
import { accessFile } from "./broker-access.ts";
import { CloudflareApi } from "./cloudflare-api.ts";
import { cloudflareVariables } from "./cloudflare-variables.ts";
import { login } from "./login.ts";
import { type Part, partsOf } from "./parts.ts";

/** The oldest Wrangler that deploys secrets together with the code. */
const WRANGLER: WranglerNeed = { who: "A deployment by Sluice", oldest: "4.74.0" };

/** Options of `deploy`, `rollback` and `destroy`. */
export interface DeploymentOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly env?: string;
  /** Name of the broker, environment suffix excluded. Default: `[sluice] broker`, else "sluice". */
  readonly broker?: string;
  /** Folder for the generated files, seen from the current one. Default `.sluice`. */
  readonly outdir?: string;
}

/** Makes a function that runs Wrangler's commands in a folder with an environment. */
export type StartWrangler = (cwd: string, env: NodeJS.ProcessEnv) => RunWrangler;

/** Starts Wrangler in a process that reads the configurations too. */
const startWrangler: StartWrangler = (cwd, env) => {
  const started = wranglerIn(cwd, env);
  askIn(started.answers);
  return started;
};

/** A project with the account that it is deployed to. */
export interface Deployment {
  readonly project: Project;
  /** The project as it stands in the broker's register. */
  readonly own: OwnProject;
  readonly places: CommandPlaces;
  readonly wrangler: RunWrangler;
  readonly credentials: Credentials;
  /** `null` where neither a configuration nor the environment names it. */
  readonly account: NamedAccount | null;
  readonly api: CloudflareApi;
  /** File with the broker's address and token. */
  readonly accessFile: string;
}

/** Reads a project and logs in to its account. Writes nothing. */
export async function openDeployment(
  options: DeploymentOptions & { readonly command: string; readonly dryRun?: boolean },
  printer: Printer,
  { cwd, env: variables }: Pick<Surroundings, "cwd" | "env">,
  start: StartWrangler = startWrangler,
): Promise<Deployment> {
  const chosen = chosenEnvironment(options.env, variables);
  takeWranglerOf([cwd, ...options.targets], WRANGLER);
  const run = start(cwd, variables);
  const { targets, broker, command } = options;
  const onAccount = { broker };
  const project = await readProject({ targets, command, env: chosen, workingDirectory: cwd, onAccount });
  refuseMissingMain(project.workers);
  for (const warning of project.warnings) printer.warn(warning);
  const forCloudflare = cloudflareVariables(cwd, project.env, variables);
  const account = accountOf(project, forCloudflare.get("CLOUDFLARE_ACCOUNT_ID"));
  const places = await findPlaces("build", cwd, options.outdir);
  // Configurations that name no account get it by this variable.
  const named = account === null ? {} : { CLOUDFLARE_ACCOUNT_ID: account.id };
  // Wrangler runs without the name of the environment, so it does not read `.env.NAME` itself.
  const values = [...forCloudflare].map(([name, { value }]) => [name, value]);
  const ofAccount = { ...Object.fromEntries(values), ...named };
  // A generated configuration is for one environment. Without `--env=`, CLOUDFLARE_ENV would add its suffix once more.
  const wrangler: RunWrangler = (args, given) => run([...args, "--env="], { ...given, env: ofAccount });
  const credentials = await login(wrangler).catch((error: unknown) => {
    if (options.dryRun !== true || !(error instanceof CliError)) throw error;
    printer.print(`${filesText(project, printer)}\n`);
    throw new CliError(`${DRY_RUN_NEEDS_LOGIN}\n${error.message}`);
  });
  const apiUrl = forCloudflare.get("CLOUDFLARE_API_BASE_URL")?.value;
  const api = new CloudflareApi({ ...credentials, named: account, ...(apiUrl ? { apiUrl } : {}) });
  return {
    project,
    places,
    wrangler,
    credentials,
    account,
    own: ownProject(project, { cwd, defaults: places.defaults, option: broker }),
    api,
    accessFile: await accessFile(places.root, project.broker.name, api),
  };
}

const DRY_RUN_NEEDS_LOGIN =
  "That is what the files say. What of it is deployed already, and so what would be deployed in which order, only the " +
  "account knows, which takes a login.";

/** Describes what a deployment is about, without a look at the account. */
function filesText({ workers, broker, topology, elsewhere }: Project, look: Look): string {
  const names = [...workers.map(({ name }) => name), `${broker.name} (the broker)`];
  return `${topologyTable(topology, elsewhere, look)}\n\nWorkers: ${names.join(", ")}`;
}

/** Workers as generated for a deployment, the broker last. */
interface PlannedParts {
  readonly project: Project;
  readonly parts: readonly Part[];
  readonly broker: Part;
}

/**
 * Writes the configurations as `sluice build` does, with a broker for all projects of a register.
 *
 * @param own the project as its files describe it; `null` to go by the register alone.
 * @param bound Workers that the broker calls besides those of the files.
 */
export function planParts(
  { project: read, places }: Deployment,
  register: Register,
  own: OwnProject | null,
  bound: readonly string[],
): PlannedParts {
  const topology = topologyOf(register, own);
  const named = own?.entry.workers ?? {};
  const project: Project = {
    ...read,
    register,
    topology,
    broker: brokerOf(read.broker, register, places.defaults),
    unbound: consumersIn(topology).filter(
      (worker) => !Object.hasOwn(named, worker) && !bound.includes(worker),
    ),
  };
  const plan = makePlan(project, "build", places);
  makeOutputFolder(places.root);
  writePlan(plan);
  const parts = partsOf(plan);
  const broker = parts.find(({ isBroker }) => isBroker);
  if (broker === undefined) throw new Error("every plan has a broker");
  return { project, parts, broker };
}
