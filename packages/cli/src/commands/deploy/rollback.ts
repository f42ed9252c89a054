import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import { readRegister } from "@sluice/project/register/register";
import { joinRegister } from "@sluice/project/register/serve-projects";
import { canonicalJson } from "@sluice/protocol";
import type { Surroundings } from "../../surroundings.ts";
import { ChangedSecrets, type Version } from "./cloudflare-api.ts";
import { type Deployment, type DeploymentOptions, openDeployment, type StartWrangler } from "./deployment.ts";
import { BrokerWatch, type LiveBroker, readLiveBroker } from "./live-broker.ts";
import { deploymentOf } from "./messages.ts";
import { changesSecretsAlone, ownersOf, withCode } from "./owners.ts";
import { type AskOptions, lookAtQueues, waitingText } from "./waiting.ts";

const ROLLBACK_MESSAGE = "sluice rollback";

/** Deployed versions of a Worker, the live one last. */
export interface WorkerVersions {
  readonly name: string;
  readonly versions: readonly DeployedVersion[];
  /** Whether deployments before the first of these are no longer listed. Default: no. */
  readonly isCut?: boolean;
}

/** A deployed version, with the upload that its code comes from. */
interface DeployedVersion {
  readonly id: string;
  /** Id of the deployment that uploaded it; `null` for another tool, or where it is no longer known. */
  readonly deployment: string | null;
  /** Tag of its contents. */
  readonly tag: string | null;
  /** Time of the upload, as ISO 8601. */
  readonly createdOn: string;
}

/** A Worker with the version that it goes back to; `null` where it had none before. */
interface Target {
  readonly name: string;
  readonly to: string | null;
}

export interface RollbackOptions extends DeploymentOptions, AskOptions {
  /** Go back also where messages stay in the broker without a consumer, and to earlier secrets. */
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
  const { api, own, project } = deployment;
  const live = await readLiveBroker(api, project.broker.name);
  // Called only because they throw for a broker or Workers of another project.
  joinRegister(project.broker.name, live.register, own);
  await ownersOf(Object.keys(own.entry.workers), deployment);
  const watch = new BrokerWatch(api, project.broker.name, live.version);
  const workers: WorkerVersions[] = [];
  for (const name of [...project.workers.map((worker) => worker.name), project.broker.name]) {
    const ids = await api.deployed(name);
    if (ids === null) continue;
    const listed = await api.versions(name);
    const all = withCode(ids, listed);
    workers.push({ name, versions: codesOf(all, listed), isCut: all.length > ids.length });
  }
  const targets = targetsOf(workers);
  refuseUnlisted(targets, workers);
  if (targets.every(({ to }) => to === null)) {
    throw new CliError(
      'There is nothing to go back to: of the last deployments, which are all that Cloudflare lists, none by "sluice deploy" came before this one.',
    );
  }
  await refuseForOthers(targets, live, deployment);
  const behind = await leftBehindText(targets, workers, deployment, options, surroundings);
  if (behind !== null) {
    if (options.force !== true) {
      throw new CliError(`${behind}\n--force goes back nevertheless.`, EXIT_NOT_CONFIRMED);
    }
    printer.warn(behind);
  }
  for (const { name, to } of targets) {
    if (to === null) {
      printer.print(`${name}  stays: it is new`);
      continue;
    }
    // Another deployment may have come in between: look again right before each step.
    if (name === project.broker.name) await watch.refuseChange();
    else await ownersOf([name], deployment);
    await goBack(name, to, deployment, options.force === true, printer);
    printer.print(`${name}  back to ${to}`);
  }
  return 0;
}

/** @throws CliError for a Worker of which Cloudflare lists changes of secrets alone, and not what it goes back to. */
function refuseUnlisted(targets: readonly Target[], workers: readonly WorkerVersions[]): void {
  const unlisted = targets.filter(({ to }) => to === null).map(({ name }) => name);
  const cut = workers.filter(({ name, isCut = false }) => isCut && unlisted.includes(name));
  if (cut.length === 0) return;
  throw new CliError(
    `Nothing goes back: of ${cut.map(({ name }) => `"${name}"`).join(" and ")} Cloudflare lists only the last ` +
      'deployments, which changed secrets. Deploy the earlier code by "sluice deploy" instead.',
  );
}

/** @throws CliError where Cloudflare refuses it. What went back before stays, and the same command goes on from there. */
async function goBack(
  name: string,
  to: string,
  { api }: Pick<Deployment, "api">,
  force: boolean,
  printer: Pick<Printer, "warn">,
): Promise<void> {
  const go = (isForced: boolean) => api.deployAgain(name, to, ROLLBACK_MESSAGE, isForced);
  try {
    await go(false).catch((error: unknown) => {
      if (!(error instanceof ChangedSecrets && force)) throw error;
      printer.warn(`"${name}" goes back to its earlier secrets too: ${error.secrets}`);
      return go(true);
    });
  } catch (error) {
    if (error instanceof ChangedSecrets)
      throw new CliError(
        `"${name}" does not go back: it would have its earlier secrets again, and these have changed since: ` +
          `${error.secrets}\n--force goes back nevertheless. "npx wrangler secret put NAME --name ${name}" sets one anew.`,
        EXIT_NOT_CONFIRMED,
      );
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`"${name}" does not go back. Run the same command again to go on.\n${error.message}`);
  }
}

/**
 * Lists the deployed versions of a Worker. One that only changed secrets has the code of the version before it.
 *
 * @param deployed ids, the live one last. One too old to be among the listed versions counts as another tool's.
 */
function codesOf(deployed: readonly string[], listed: readonly Version[]): DeployedVersion[] {
  const known = new Map(listed.map((version) => [version.id, version]));
  const codes: DeployedVersion[] = [];
  for (const id of deployed) {
    const version = known.get(id);
    const before = codes.at(-1);
    if (version !== undefined && before !== undefined && changesSecretsAlone(version)) {
      codes.push({ ...before, id });
      continue;
    }
    const { message = null, tag = null, createdOn = "" } = version ?? {};
    codes.push({ id, deployment: deploymentOf(message), tag, createdOn });
  }
  return codes;
}

/** @throws CliError if going back would also undo what another project has deployed to the broker. */
async function refuseForOthers(
  targets: readonly Target[],
  live: LiveBroker,
  { api, own, project }: Deployment,
): Promise<void> {
  const name = project.broker.name;
  const to = targets.find((one) => one.name === name)?.to ?? null;
  if (to === null) return;
  const { bindings, services } = await api.version(name, to);
  const before = { register: readRegister(name, bindings), services };
  const projects = [live, before].flatMap(({ register }) => Object.keys(register?.projects ?? {}));
  const changed = [...new Set(projects)].filter(
    (other) => other !== own.name && projectStateIn(live, other) !== projectStateIn(before, other),
  );
  if (changed.length === 0) return;
  throw new CliError(
    `"${name}" does not go back: since then ${changed.map((one) => `"${one}"`).join(" and ")} has been deployed to it ` +
      `too, and would go back with it. Deploy the earlier code by "sluice deploy" instead.`,
  );
}

/**
 * Serializes the part of a broker's version that belongs to a project, for comparison: its register entry, and which of
 * its Workers the broker is bound to.
 */
function projectStateIn(broker: Pick<LiveBroker, "register" | "services">, project: string): string {
  const entry = broker.register?.projects[project] ?? null;
  const bound = broker.services.filter((worker) => entry?.workers[worker] !== undefined).sort();
  return canonicalJson({ entry, bound });
}

/** Says in words which messages would stay without a consumer; `null` where there are none. */
async function leftBehindText(
  targets: readonly Target[],
  workers: readonly WorkerVersions[],
  deployment: Deployment,
  options: AskOptions,
  surroundings: Pick<Surroundings, "cwd" | "env">,
): Promise<string | null> {
  const { own } = deployment;
  const leaving = targets.filter(({ name, to }) => {
    const before = workers.find((one) => one.name === name)?.versions.find(({ id }) => id === to);
    return before?.deployment === null && (own.entry.workers[name]?.consumers.length ?? 0) > 0;
  });
  if (leaving.length === 0) return null;
  const queues = leaving
    .flatMap(({ name }) => own.entry.workers[name]?.consumers ?? [])
    .map(({ queue }) => queue);
  const waiting = await lookAtQueues(deployment, options, surroundings, new Set(queues));
  if (waiting.kind === "known" && waiting.lines.length === 0) return null;
  const names = leaving.map(({ name }) => `"${name}"`).join(" and ");
  const outcome = "These stay in the broker, and no Worker consumes them:";
  const consume = leaving.length === 1 ? "consumes" : "consume";
  return `Back to a version from before Sluice, ${names} ${consume} from queues of Cloudflare's. ${waitingText(waiting, outcome)}`;
}

/**
 * Finds the versions that undo the deployment which uploaded the newest live version. A Worker whose contents it
 * did not change stays: going back would only restore old secrets.
 */
export function targetsOf(workers: readonly WorkerVersions[]): Target[] {
  const live = workers.flatMap(({ versions }) => versions.at(-1) ?? []);
  const [newest] = live
    .filter(({ deployment }) => deployment !== null)
    .sort((a, b) => b.createdOn.localeCompare(a.createdOn));
  if (newest === undefined) return [];
  return workers.flatMap(({ name, versions }) => {
    if (versions.at(-1)?.deployment !== newest.deployment) return [];
    const first = versions.findIndex(({ deployment }) => deployment === newest.deployment);
    const before = versions[first - 1];
    if (before !== undefined && before.tag !== null && before.tag === versions.at(-1)?.tag) return [];
    return { name, to: before?.id ?? null };
  });
}
