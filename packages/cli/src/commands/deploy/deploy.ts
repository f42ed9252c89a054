import { createHash } from "node:crypto";
import { relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CliError } from "../../errors.ts";
import type { Printer } from "../../report/printer.ts";
import type { Surroundings } from "../../surroundings.ts";
import { canAsk } from "../../wrangler/run-wrangler.ts";
import { brokerSecrets, readAccess, secretsSet, writeAccess } from "./broker-access.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { bundled } from "./contents.ts";
import { type Deployment, type DeploymentOptions, openDeployment, type StartWrangler } from "./deployment.ts";
import { protocolWarning } from "./live-protocol.ts";
import { deploymentMessage } from "./messages.ts";
import { againOf, withoutTags } from "./run/again.ts";
import { refuseForeignDomains, setTriggers } from "./run/triggers.ts";
import { Unfinished } from "./run/unfinished.ts";
import { type Live, type Step, stepsTo, type Wanted } from "./steps.ts";
import { upload } from "./uploads.ts";

export interface DeployOptions extends DeploymentOptions {
  /** Say what would be done, and do nothing. */
  readonly dryRun?: boolean;
  /** Deploy everything, whatever is live. */
  readonly force?: boolean;
  /** Answer yes to each question of Wrangler's. */
  readonly yes?: boolean;
}

/**
 * `sluice deploy`: deploys the Workers and their broker by Wrangler, in an order that Cloudflare takes, and only what
 * has changed. It keeps no state of its own: what is deployed is asked of the account each time, so a run after one
 * that has failed goes on where that one stopped.
 */
export async function deploy(
  options: DeployOptions,
  printer: Printer,
  surroundings: Pick<Surroundings, "cwd" | "env">,
  start?: StartWrangler,
): Promise<number> {
  const deployment = await openDeployment(options, printer, surroundings, start);
  const { parts, wrangler, broker } = deployment;
  const api = await deployment.api();
  const live = await liveOf(
    api,
    parts.map(({ name }) => name),
  );
  const wanted: Wanted[] = [];
  for (const part of parts) wanted.push(await bundled(part, wrangler));
  const unfinished = new Unfinished(deployment.accessFile);
  const set = secretsSet(deployment.project, surroundings.env);
  const { force = false, yes = false } = options;
  const again = againOf(parts, { force, secrets: Object.keys(set), unfinished });
  const steps = stepsTo(wanted, withoutTags(live, again));
  printer.print(planText(wanted, live, steps, again));
  if (options.dryRun === true) return 0;
  if (!yes && !canAsk()) await refuseForeignDomains(parts, api);
  const isNew = !live.has(broker.name);
  const secrets = brokerSecrets(set, { file: deployment.accessFile, isNew });
  const message = deploymentMessage(runOf(wanted));
  for (const [i, step] of steps.entries()) {
    const isBroker = step.part === broker;
    const place = `${i + 1} of ${steps.length}`;
    unfinished.begin(step.part.name);
    const addresses = await upload(step, {
      ...{ message, wrangler, yes, wait: setTimeout },
      secrets: isBroker ? secrets : {},
    }).catch((error: unknown) => {
      throw error instanceof CliError ? new CliError(stopText(step, place, error.message)) : error;
    });
    printer.print(`${place}  ${stepText(step)}  ${addresses.join(", ")}`.trimEnd());
    unfinished.end(step.part.name);
    const [url] = addresses;
    if (isBroker && url !== undefined) keepAddress(deployment, url);
  }
  const unchanged = parts.filter((part) => !steps.some((step) => step.part === part));
  for (const part of unchanged) await setTriggers(part, wrangler, !yes);
  if (unchanged.length > 0) {
    const names = unchanged.map(({ name }) => name).join(", ");
    printer.print(`Address, routes, domains and schedules are as configured: ${names}`);
  }
  if (steps.length > 0) printer.print(endText(deployment, surroundings));
  return 0;
}

/** What of each Worker is deployed. Those that are not there are left out. */
async function liveOf(api: CloudflareApi, names: readonly string[]): Promise<Map<string, Live>> {
  const live = new Map<string, Live>();
  for (const name of names) {
    const versions = await api.deployed(name);
    if (versions === null) continue;
    const id = versions.at(-1);
    // A Worker of secrets alone, or one that was uploaded and never deployed.
    live.set(name, id === undefined ? { tag: null, services: [] } : await api.version(name, id));
  }
  return live;
}

/** The same contents are the same deployment: so a run that finishes another one bears its name. */
function runOf(wanted: readonly Wanted[]): string {
  const tags = wanted.map(({ part, tag }) => `${part.name}=${tag}`).sort();
  return createHash("sha256").update(tags.join()).digest("hex").slice(0, 12);
}

function planText(
  wanted: readonly Wanted[],
  live: ReadonlyMap<string, Live>,
  steps: readonly Step[],
  again: ReadonlyMap<string, string>,
): string {
  const lines = wanted.map(({ part, tag }) => {
    const before = live.get(part.name);
    if (before === undefined) return `  + ${part.name}  new`;
    const reason = again.get(part.name);
    if (before.tag === tag && reason !== undefined) return `  ~ ${part.name}  again: ${reason}`;
    return before.tag === tag ? `  • ${part.name}  unchanged` : `  ~ ${part.name}  changed`;
  });
  if (steps.length === 0) return [...lines, "", "Nothing to deploy."].join("\n");
  const order = steps.map((step, i) => `  ${i + 1}. ${stepText(step)}`);
  const broker = wanted.find(({ part }) => part.isBroker)?.part.name ?? "";
  const warning = protocolWarning(live.get(broker)?.tag ?? null);
  const warned = warning === null ? [] : [warning, ""];
  return [...lines, "", "In this order:", ...order, "", ...warned].join("\n");
}

function stepText({ part, without }: Step): string {
  const left = without.length === 0 ? "" : `, without ${without.join(", ")}: not there yet`;
  return `${part.isBroker ? "the broker " : ""}${part.name}${left}`;
}

function stopText({ part }: Step, place: string, reason: string): string {
  return (
    `"${part.name}" was not deployed, step ${place}. What was deployed before it works as it is. ` +
    `Run the same command again to go on. Wrangler says:\n${reason}`
  );
}

function keepAddress({ accessFile }: Deployment, url: string): void {
  const access = readAccess(accessFile);
  if (access.SLUICE_URL !== url) writeAccess(accessFile, { ...access, SLUICE_URL: url });
}

function endText({ accessFile, broker }: Deployment, { cwd }: Pick<Surroundings, "cwd">): string {
  const { SLUICE_URL: url, SLUICE_API_TOKEN: token } = readAccess(accessFile);
  if (url === undefined) return `\nDeployed. "${broker.name}" has no address of its own.`;
  const file = relative(cwd, accessFile);
  const its = token === undefined ? "Its address is" : "Its address and its token are";
  return [
    `\nDeployed. The broker's page: ${url}/__sluice/`,
    `${its} in ${file}, for the commands of this one:`,
    `  set -a; . ${file}; set +a; npx sluice queues list`,
  ].join("\n");
}
