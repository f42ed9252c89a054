import { chosenEnvironment } from "../../environment.ts";
import { makePlan, type Plan } from "../../generate/plan.ts";
import { makeOutputFolder, writePlan } from "../../output/write-plan.ts";
import { type CommandPlaces, findPlaces } from "../../places.ts";
import { refuseMissingMain } from "../../project/missing-main.ts";
import { type Project, readProject } from "../../project/project.ts";
import type { Printer } from "../../report/printer.ts";
import type { Surroundings } from "../../surroundings.ts";
import { takeWranglerOf, type WranglerNeed } from "../../wrangler/load-wrangler.ts";
import { type RunWrangler, wranglerIn } from "../../wrangler/run-wrangler.ts";
import { accessFile } from "./broker-access.ts";
import { CloudflareApi } from "./cloudflare-api.ts";
import { loginHeaders } from "./login.ts";
import { type Part, partsOf } from "./parts.ts";

/** The oldest one deploys secrets together with the code. */
const WRANGLER: WranglerNeed = { who: "A deployment by Sluice", oldest: "4.74.0" };

/** What `deploy`, `rollback` and `destroy` are told. */
export interface DeploymentOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly env?: string;
  /** Folder for the generated files, seen from the current one. Default `.sluice`. */
  readonly outdir?: string;
}

/** Makes what runs Wrangler's commands, in a folder with an environment. */
export type StartWrangler = (cwd: string, env: NodeJS.ProcessEnv) => RunWrangler;

/** A project, what is generated of it, and the account that it is for. */
export interface Deployment {
  readonly project: Project;
  readonly plan: Plan;
  readonly places: CommandPlaces;
  /** The Workers, the broker last. */
  readonly parts: readonly Part[];
  readonly broker: Part;
  readonly wrangler: RunWrangler;
  /** File with the broker's address and token. */
  readonly accessFile: string;
  api(): Promise<CloudflareApi>;
}

/** Reads a project and writes its configurations, as `sluice build` does. Nothing is asked of Cloudflare yet. */
export async function openDeployment(
  options: DeploymentOptions,
  printer: Printer,
  { cwd, env: variables }: Pick<Surroundings, "cwd" | "env">,
  start: StartWrangler = wranglerIn,
): Promise<Deployment> {
  const env = chosenEnvironment(options.env, variables);
  takeWranglerOf([cwd, ...options.targets], WRANGLER);
  const project = await readProject({ targets: options.targets, env, workingDirectory: cwd });
  refuseMissingMain(project.workers);
  for (const warning of project.warnings) printer.warn(warning);
  const places = await findPlaces("build", cwd, options.outdir);
  const plan = makePlan(project, "build", places);
  makeOutputFolder(places.root);
  writePlan(plan);
  const parts = partsOf(plan);
  const broker = parts.find(({ isBroker }) => isBroker);
  if (broker === undefined) throw new Error("every plan has a broker");
  const wrangler = start(cwd, variables);
  return {
    ...{ project, plan, places, parts, broker, wrangler },
    accessFile: accessFile(places.root, broker.name),
    api: async () =>
      new CloudflareApi({
        headers: await loginHeaders(wrangler),
        accountId: variables.CLOUDFLARE_ACCOUNT_ID || accountOf(project),
        ...(variables.CLOUDFLARE_API_BASE_URL ? { apiUrl: variables.CLOUDFLARE_API_BASE_URL } : {}),
      }),
  };
}

function accountOf({ workers, broker }: Project): string | null {
  const configs = [...workers.map(({ wrangler }) => wrangler), broker.wrangler];
  return configs.map((config) => config?.account_id).find((id) => id !== undefined) ?? null;
}
