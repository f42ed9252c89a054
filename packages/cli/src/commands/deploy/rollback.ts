import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import { readRegister } from "@sluice/project/register/register";
import { joined } from "@sluice/project/register/serve-projects";
import { canonicalJson } from "@sluice/protocol";
import type { Surroundings } from "../../surroundings.ts";
import { hintFor } from "./account.ts";
import { type Deployment, type DeploymentOptions, openDeployment, type StartWrangler } from "./deployment.ts";
import { BrokerWatch, type LiveBroker, readLiveBroker } from "./live-broker.ts";
import { deploymentOf } from "./messages.ts";
import { ownersOf } from "./owners.ts";
import { type AskOptions, lookAtQueues, waitingText } from "./waiting.ts";

/** Deployed versions of a Worker, the newest last, each with its deployment. */
export interface Past {
  readonly name: string;
  readonly versions: readonly {
    readonly id: string;
    readonly run: string | null;
    /** Tag of the version's contents. */
    readonly tag: string | null;
    /** Time of the upload, as ISO 8601. */
    readonly createdOn: string;
  }[];
}

/** A Worker with the version that it goes back to; `null` where it had none before. */
interface Return {
  readonly name: string;
  readonly to: string | null;
}

export interface RollbackOptions extends DeploymentOptions, AskOptions {
  /** Go back also where messages stay in the broker without a consumer. */
  readonly force?: boolean;
}

/**
 * `sluice rollback`: brings each Worker that the last deployment changed back to its version before, the Workers first
 * and the broker last. Messages and all other data stay.
 */
export async function rollback(
  options: RollbackOptions,
  printer: Printer,
  surroundings: Pick<Surroundings, "cwd" | "env">,
  start?: StartWrangler,
): Promise<number> {
  const deployment = await openDeployment({ ...options, command: "rollback" }, printer, surroundings, start);
  const { api, own, project, wrangler } = deployment;
  const live = await readLiveBroker(api, project.broker.name);
  // Both calls refuse a broker, or Workers, of another project.
  joined(project.broker.name, live.register, own);
  await ownersOf(Object.keys(own.entry.workers), deployment);
  const watch = new BrokerWatch(api, project.broker.name, live.version);
  const pasts: Past[] = [];
  for (const name of [...project.workers.map((worker) => worker.name), project.broker.name]) {
    const ids = await api.deployed(name);
    if (ids === null) continue;
    const known = new Map((await api.versions(name)).map((version) => [version.id, version]));
    // A version too old to be listed belongs to no recent deployment.
    const versions = ids.map((id) => {
      const { message = null, tag = null, createdOn = "" } = known.get(id) ?? {};
      return { id, run: deploymentOf(message), tag, createdOn };
    });
    pasts.push({ name, versions });
  }
  const returns = returnsOf(pasts);
  if (returns.every(({ to }) => to === null)) {
    throw new CliError(
      'There is nothing to go back to: no deployment by "sluice deploy" came before this one.',
    );
  }
  await refuseForOthers(returns, live, deployment);
  const behind = await leftBehind(returns, pasts, deployment, options, surroundings);
  if (behind !== null) {
    if (options.force !== true) {
      throw new CliError(`${behind}\n--force goes back nevertheless.`, EXIT_NOT_CONFIRMED);
    }
    printer.warn(behind);
  }
  for (const { name, to } of returns) {
    if (to === null) {
      printer.print(`${name}  stays: it is new`);
      continue;
    }
    if (name === project.broker.name) await watch.refuseChange();
    else await ownersOf([name], deployment);
    const { code, all } = await wrangler([
      "rollback",
      to,
      "--name",
      name,
      "--yes",
      "--message",
      "sluice rollback",
    ]);
    if (code !== 0) {
      const hint = hintFor(all, deployment.credentials, deployment.account);
      throw new CliError(
        `"${name}" does not go back. Run the same command again to go on. Wrangler says:\n${all}${hint}`,
      );
    }
    printer.print(`${name}  back to ${to}`);
  }
  return 0;
}

/** @throws CliError where another project was deployed to the broker since its version before. */
async function refuseForOthers(
  returns: readonly Return[],
  live: LiveBroker,
  { api, own, project }: Deployment,
): Promise<void> {
  const name = project.broker.name;
  const to = returns.find((one) => one.name === name)?.to ?? null;
  if (to === null) return;
  const { bindings, services } = await api.version(name, to);
  const before = { register: readRegister(name, bindings), services };
  const projects = [live, before].flatMap(({ register }) => Object.keys(register?.projects ?? {}));
  const changed = [...new Set(projects)].filter(
    (other) => other !== own.name && standingOf(other, live) !== standingOf(other, before),
  );
  if (changed.length === 0) return;
  throw new CliError(
    `"${name}" does not go back: since then ${changed.map((one) => `"${one}"`).join(" and ")} has been deployed to it ` +
      `too, and would go back with it. Deploy the earlier code by "sluice deploy" instead.`,
  );
}

/** Describes as JSON what a version of the broker has of a project: its entry, and its called Workers. */
function standingOf(
  project: string,
  { register, services }: Pick<LiveBroker, "register" | "services">,
): string {
  const entry = register?.projects[project] ?? null;
  const called = services.filter((worker) => entry?.workers[worker] !== undefined).sort();
  return canonicalJson({ entry, called });
}

/** Says in words which messages would stay without a consumer; `null` where there are none. */
async function leftBehind(
  returns: readonly Return[],
  pasts: readonly Past[],
  { own, accessFile }: Deployment,
  options: AskOptions,
  surroundings: Pick<Surroundings, "cwd" | "env">,
): Promise<string | null> {
  const leaving = returns.filter(({ name, to }) => {
    const past = pasts.find((one) => one.name === name);
    const isOfOurs = past?.versions.find(({ id }) => id === to)?.run !== null;
    return to !== null && !isOfOurs && (own.entry.workers[name]?.consumers.length ?? 0) > 0;
  });
  if (leaving.length === 0) return null;
  const queues = leaving
    .flatMap(({ name }) => own.entry.workers[name]?.consumers ?? [])
    .map(({ queue }) => queue);
  const waiting = await lookAtQueues(accessFile, options, surroundings, new Set(queues));
  if (waiting.kind === "known" && waiting.lines.length === 0) return null;
  const names = leaving.map(({ name }) => `"${name}"`).join(" and ");
  const outcome = "These stay in the broker, and no Worker consumes them:";
  const consume = leaving.length === 1 ? "consumes" : "consume";
  return `Back to a version from before Sluice, ${names} ${consume} from queues of Cloudflare's. ${waitingText(waiting, outcome)}`;
}

/**
 * Finds the version that each Worker goes back to. The deployment of the newest live version is undone. Workers with
 * unchanged contents stay: a broker deployed only for its secrets would get the earlier ones back.
 */
export function returnsOf(pasts: readonly Past[]): Return[] {
  const live = pasts.flatMap(({ versions }) => versions.at(-1) ?? []);
  const [newest] = live
    .filter(({ run }) => run !== null)
    .sort((a, b) => b.createdOn.localeCompare(a.createdOn));
  if (newest === undefined) return [];
  return pasts.flatMap(({ name, versions }) => {
    if (versions.at(-1)?.run !== newest.run) return [];
    const first = versions.findIndex(({ run }) => run === newest.run);
    const before = versions[first - 1];
    if (before !== undefined && before.tag !== null && before.tag === versions.at(-1)?.tag) return [];
    return { name, to: before?.id ?? null };
  });
}
