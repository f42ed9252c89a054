import { createHash } from "node:crypto";
import { relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Printer } from "@sluice/local/report/printer";
import { CliError } from "@sluice/project/errors";
import { SECRET_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import { checkSettings } from "@sluice/project/generate/check-settings";
import type { Register } from "@sluice/project/register/register";
import { joinRegister } from "@sluice/project/register/serve-projects";
import { canAsk } from "@sluice/project/wrangler/run-wrangler";
import { canonicalJson } from "@sluice/protocol";
import type { Surroundings } from "../../surroundings.ts";
import { hintFor } from "./account.ts";
import { addressAmong, brokerSecrets, keepAccess, readAccess, secretsSet } from "./broker-access.ts";
import type { CloudflareApi, VersionWithBindings } from "./cloudflare-api.ts";
import { bundled } from "./contents.ts";
import {
  type Deployment,
  type DeploymentOptions,
  openDeployment,
  planParts,
  type StartWrangler,
} from "./deployment.ts";
import { type BrokerWatch, type LiveBroker, untilAlone } from "./live-broker.ts";
import { protocolWarning } from "./live-protocol.ts";
import { deploymentMessage, deploymentOf } from "./messages.ts";
import { detachedText, othersOf, otherText } from "./others.ts";
import { isOwn, ownersOf, refuseParting, runningCode } from "./owners.ts";
import { againOf, withoutTags } from "./run/again.ts";
import { refuseForeignDomains, setTriggers } from "./run/triggers.ts";
import { Unfinished } from "./run/unfinished.ts";
import { type Live, type Step, stepsTo, type Wanted } from "./steps.ts";
import { CHOSEN, lastMark, tokenMark } from "./token-marks.ts";
import { upload } from "./uploads.ts";

export interface DeployOptions extends DeploymentOptions {
  /** Print the plan and do nothing else. */
  readonly dryRun?: boolean;
  /** Deploy everything, even what is live already. */
  readonly force?: boolean;
  /** Answer yes to each question of Wrangler's. */
  readonly yes?: boolean;
  /** Workers of the project that the broker forgets. */
  readonly detach?: readonly string[];
}

/**
 * `sluice deploy`: deploys the Workers and their broker by Wrangler, in an order that Cloudflare accepts, unless they
 * are unchanged. Each run reads from the account what is deployed, so it continues where a failed run stopped.
 */
export async function deploy(
  options: DeployOptions,
  printer: Printer,
  surroundings: Pick<Surroundings, "cwd" | "env">,
  start?: StartWrangler,
): Promise<number> {
  checkSettings(setVariables(SECRET_SETTINGS, surroundings.env));
  const deployment = await openDeployment({ ...options, command: "deploy" }, printer, surroundings, start);
  const uploaded = new Set<string>();
  return untilAlone(deployment.api, deployment.project.broker.name, printer, (live, watch) =>
    deployOnto(live, watch, { deployment, options, printer, surroundings, uploaded }),
  );
}

interface DeployRun {
  readonly deployment: Deployment;
  readonly options: DeployOptions;
  readonly printer: Printer;
  readonly surroundings: Pick<Surroundings, "cwd" | "env">;
  /** Names of uploaded parts, which `--force` uploads once: two runs that plan anew for each other would never end. */
  readonly uploaded: Set<string>;
}

/** Plans the uploads from the live state of the account to that of the files, and makes them. */
async function deployOnto(
  liveBroker: LiveBroker,
  watch: BrokerWatch,
  { deployment, options, printer, surroundings, uploaded }: DeployRun,
): Promise<number> {
  const { api, own, wrangler } = deployment;
  const { detach = [] } = options;
  const next = joinRegister(deployment.project.broker.name, liveBroker.register, own, detach);
  // The live register is uploaded unchanged, with its `by`, so that the broker's tag stays the same.
  const register = hasProjects(next, liveBroker.ownRegister) ? liveBroker.ownRegister : next;
  const marks = await ownersOf(Object.keys(own.entry.workers), deployment);
  await refuseParting(marks, deployment);
  const others = await othersOf(register, own, liveBroker.services, api);
  const bound = others.filter(({ standing }) => standing === "bound").map(({ worker }) => worker);
  const { parts, broker } = planParts(deployment, register, own, bound);
  const live = await liveOf(
    api,
    parts.map(({ name }) => name),
  );
  const wanted: Wanted[] = [];
  for (const part of parts) wanted.push(await bundled(part, wrangler));
  const unfinished = new Unfinished(deployment.accessFile);
  // Another project's configuration must not say which variables of this environment are uploaded.
  const secretsGiven = secretsSet(deployment.project, surroundings.env);
  const { force = false, yes = false } = options;
  const candidates = parts.filter(({ name }) => !uploaded.has(name));
  const unmarked = new Set([...marks].flatMap(([name, mark]) => (isOwn(mark, deployment) ? [] : name)));
  const again = againOf(candidates, { force, secrets: Object.keys(secretsGiven), unfinished, unmarked });
  const steps = stepsTo(wanted, withoutTags(live, again));
  const around = [...others.map(otherText), ...detach.map(detachedText)];
  printer.print(planText({ wanted, live, steps, again, around }));
  if (options.dryRun === true) return 0;
  if (!yes && !canAsk()) await refuseForeignDomains(parts, api);
  const isNew = !live.has(broker.name);
  const account = await api.account();
  const file = deployment.accessFile;
  const secrets = steps.length === 0 ? {} : brokerSecrets(secretsGiven, { file, account, isNew });
  const isChosen = secretsGiven.SLUICE_API_TOKENS !== undefined;
  const { SLUICE_API_TOKENS: tokens } = secrets;
  const tokensMark = tokens === undefined ? null : isChosen ? CHOSEN : tokenMark(tokens);
  const mark = { run: runOf(wanted, live), broker: broker.name, project: own.name };
  for (const [i, step] of steps.entries()) {
    const isBroker = step.part === broker;
    const place = `${i + 1} of ${steps.length}`;
    const uploadStep = async () => {
      unfinished.begin(step.part.name);
      const message = deploymentMessage(mark, isBroker ? tokensMark : null);
      const migration = isBroker ? await api.migrationTag(step.part.name) : null;
      const ofPart = { message, secrets: isBroker ? secrets : {}, migration };
      const addresses = await upload(step, { ...ofPart, wrangler, yes, wait: setTimeout }).catch(
        (error: unknown) => {
          if (!(error instanceof CliError)) throw error;
          const hint = hintFor(error.message, deployment.credentials, deployment.account);
          throw new CliError(stopText(step, place, error.message + hint));
        },
      );
      unfinished.end(step.part.name);
      uploaded.add(step.part.name);
      return addresses;
    };
    // Another deployment may have come in between: look again right before each step.
    if (!isBroker) await ownersOf([step.part.name], deployment);
    const addresses = await (isBroker ? watch.guard(uploadStep) : uploadStep());
    printer.print(`${place}  ${stepText(step)}  ${addresses.join(", ")}`.trimEnd());
    if (!isBroker) continue;
    const url = addressAmong(addresses);
    keepAccess(file, account, {
      ...(url === null ? {} : { SLUICE_URL: url }),
      ...(isChosen ? { SLUICE_API_TOKEN: undefined } : {}),
    });
  }
  const unchanged = parts.filter((part) => !steps.some((step) => step.part === part));
  for (const part of unchanged) await setTriggers(part, wrangler, !yes);
  if (unchanged.length > 0) {
    const names = unchanged.map(({ name }) => name).join(", ");
    printer.print(`Address, routes, domains and schedules are as configured: ${names}`);
  }
  const last = lastMark(await api.versions(broker.name));
  const isForgotten = forgetReplacedToken(file, account, last);
  // What was uploaded before another deployment came in between is not among the steps of this plan.
  const hasUploaded = uploaded.size > 0;
  if (hasUploaded) await findAddress(deployment);
  if (hasUploaded || isForgotten) {
    printer.print(
      endText(deployment, surroundings, {
        isChosen: isChosen && last === CHOSEN,
        isSet: tokensMark !== null,
      }),
    );
  }
  return 0;
}

/** Whether the live broker has these projects already, whichever deployment uploaded them. */
function hasProjects(next: Register, live: Register | null): live is Register {
  return live !== null && canonicalJson(next.projects) === canonicalJson(live.projects);
}

type LiveVersion = Live & Pick<VersionWithBindings, "id" | "message" | "createdOn">;

const NOTHING_RUNS: LiveVersion = { id: "", tag: null, services: [], message: null, createdOn: "" };

/** Reads the version of each Worker whose code runs. Workers that are not on the account are left out. */
async function liveOf(api: CloudflareApi, names: readonly string[]): Promise<Map<string, LiveVersion>> {
  const live = new Map<string, LiveVersion>();
  for (const name of names) {
    const versions = await api.deployed(name);
    if (versions === null) continue;
    // The Worker has only secrets, or was uploaded and never deployed.
    live.set(name, (await runningCode(name, versions, api)) ?? NOTHING_RUNS);
  }
  return live;
}

/**
 * Computes the id of a deployment from its contents and from the version that was the newest before it. A run that
 * finishes a failed one, with the same contents and nothing deployed since, gets the same id; contents that return
 * later get a new one.
 */
function runOf(wanted: readonly Wanted[], live: ReadonlyMap<string, LiveVersion>): string {
  const tags = wanted.map(({ part, tag }) => `${part.name}=${tag}`).sort();
  const contents = shortHash(tags.join());
  const [newest] = [...live.values()].toSorted((a, b) => b.createdOn.localeCompare(a.createdOn));
  const last = deploymentOf(newest?.message ?? null);
  return last?.startsWith(contents) === true ? last : `${contents}-${shortHash(newest?.id ?? "")}`;
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

interface Planned {
  readonly wanted: readonly Wanted[];
  readonly live: ReadonlyMap<string, Live>;
  readonly steps: readonly Step[];
  /** Reason for each part that is deployed again although it is live. */
  readonly again: ReadonlyMap<string, string>;
  /** Lines for the Workers that are not deployed, which stay bound or are detached. */
  readonly around: readonly string[];
}

function planText({ wanted, live, steps, again, around }: Planned): string {
  const own = wanted.map(({ part, tag }) => {
    const before = live.get(part.name);
    if (before === undefined) return `  + ${part.name}  new`;
    const reason = again.get(part.name);
    if (before.tag === tag && reason !== undefined) return `  ~ ${part.name}  again: ${reason}`;
    return before.tag === tag ? `  • ${part.name}  unchanged` : `  ~ ${part.name}  changed`;
  });
  const lines = [...own, ...around];
  if (steps.length === 0) return [...lines, "", "Nothing to deploy."].join("\n");
  const order = steps.map((step, i) => `  ${i + 1}. ${stepText(step)}`);
  const broker = wanted.find(({ part }) => part.isBroker)?.part.name ?? "";
  const warning = protocolWarning(live.get(broker)?.tag ?? null);
  const warned = warning === null ? [] : [warning, ""];
  return [...lines, "", "In this order:", ...order, "", ...warned].join("\n");
}

function stepText({ part, without }: Step): string {
  const left = without.length === 0 ? "" : `, without ${without.join(", ")}: deployed after it`;
  return `${part.isBroker ? "the broker " : ""}${part.name}${left}`;
}

function stopText({ part }: Step, place: string, reason: string): string {
  return (
    `"${part.name}" was not deployed, step ${place}. What was deployed before it works as it is. ` +
    `Run the same command again to go on. Wrangler says:\n${reason}`
  );
}

/**
 * Removes from the file a token that the broker no longer accepts. Returns whether there was one.
 *
 * @param last mark of the tokens that were set last; `null` where it is unknown, which leaves the token in the file.
 */
function forgetReplacedToken(file: string, account: string, last: string | null): boolean {
  const { SLUICE_API_TOKEN: token } = readAccess(file);
  if (token === undefined || last === null || last === tokenMark(token)) return false;
  keepAccess(file, account, { SLUICE_API_TOKEN: undefined });
  return true;
}

/** Asks the account for the address of a broker where the file has none: another machine has deployed it. */
async function findAddress({ accessFile, api, project }: Deployment): Promise<void> {
  if (readAccess(accessFile).SLUICE_URL !== undefined) return;
  const url = await api.address(project.broker.name);
  if (url !== null) keepAccess(accessFile, await api.account(), { SLUICE_URL: url });
}

interface TokensAtEnd {
  /** Whether the broker has the tokens that this deployment was given. */
  readonly isChosen: boolean;
  /** Whether this deployment has set the broker's tokens. */
  readonly isSet: boolean;
}

function endText(
  { accessFile, project }: Deployment,
  { cwd }: Pick<Surroundings, "cwd">,
  { isChosen, isSet }: TokensAtEnd,
): string {
  const { SLUICE_URL: url, SLUICE_API_TOKEN: token } = readAccess(accessFile);
  const { name } = project.broker;
  const file = relative(cwd, accessFile);
  const tokenText = isChosen
    ? "Its token is not in there: it is one of the SLUICE_API_TOKENS that this deployment was given."
    : "Its token is not in there: another deployment has set it, and has it in its own file or SLUICE_API_TOKENS. " +
      `"npx wrangler secret put SLUICE_API_TOKENS --name ${name}" sets another one.`;
  if (url === undefined) return `\nDeployed. "${name}" answers at no address of workers.dev.`;
  const theToken = isSet ? "its token" : "the token that it was first deployed with";
  const its = token === undefined ? "Its address is" : `Its address and ${theToken} are`;
  const sinceText =
    `That token counts unless another one has been set since, as by "npx wrangler secret put": which one ` +
    "the broker has cannot be read.";
  return [
    `\nDeployed. The broker's page: ${url}/__sluice/`,
    `${its} in ${file}, for the other commands:`,
    `  set -a; . ${file}; set +a; npx sluice queues list`,
    ...(token === undefined ? [tokenText] : isSet ? [] : [sinceText]),
  ].join("\n");
}
