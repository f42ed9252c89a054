import { rmSync } from "node:fs";
import type { Printer } from "@sluice/local/report/printer";
import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import type { Register } from "@sluice/project/register/register";
import { leaveRegister, type OwnProject } from "@sluice/project/register/serve-projects";
import type { Surroundings } from "../../surroundings.ts";
import { confirm } from "../on-broker.ts";
import { hintFor } from "./account.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { bundled } from "./contents.ts";
import {
  type Deployment,
  type DeploymentOptions,
  openDeployment,
  planParts,
  type StartWrangler,
} from "./deployment.ts";
import { type BrokerWatch, type LiveBroker, untilAlone } from "./live-broker.ts";
import type { Mark } from "./messages.ts";
import { othersOf } from "./others.ts";
import { isOwn, ownersOf } from "./owners.ts";
import type { Part } from "./parts.ts";
import { inOrder, type Step } from "./steps.ts";
import { upload } from "./uploads.ts";
import { type AskOptions, lookAtQueues, waitingText } from "./waiting.ts";

export interface DestroyOptions extends DeploymentOptions, AskOptions {
  /** Ask nothing. Also delete where messages wait or other Workers are bound. */
  readonly force?: boolean;
  /** Delete the broker, or its entry for this project, and leave the Workers. */
  readonly keepWorkers?: boolean;
}

/** Outcome for the broker when a project leaves it. */
type BrokerEnd =
  | { readonly kind: "absent" }
  /** It is deleted: no project is left. */
  | { readonly kind: "goes" }
  /** It is deployed without the Workers that are deleted: other projects are left. */
  | { readonly kind: "stays"; readonly without: Register }
  /** It stays as it is: it serves other projects only. */
  | { readonly kind: "untouched"; readonly register: Register };

/**
 * `sluice destroy`: deletes the Workers of a project and their entry in the broker, after a look at the messages that
 * still wait. The broker is deleted with the last Worker that it serves. A run continues where a failed one stopped.
 */
export async function destroy(
  options: DestroyOptions,
  printer: Printer,
  surroundings: Surroundings,
  start?: StartWrangler,
): Promise<number> {
  const deployment = await openDeployment({ ...options, command: "destroy" }, printer, surroundings, start);
  return untilAlone(deployment.api, deployment.project.broker.name, printer, (live, watch) =>
    destroyFrom(live, watch, { deployment, options, printer, surroundings }),
  );
}

interface DestroyRun {
  readonly deployment: Deployment;
  readonly options: DestroyOptions;
  readonly printer: Printer;
  readonly surroundings: Surroundings;
}

async function destroyFrom(
  live: LiveBroker,
  watch: BrokerWatch,
  { deployment, options, printer, surroundings }: DestroyRun,
): Promise<number> {
  const { api, wrangler, project, own } = deployment;
  const name = project.broker.name;
  const end = endOf(live, own);
  const { parts, broker } = planParts(
    deployment,
    registerFor(end, live, own),
    null,
    await boundAfter(end, deployment, live),
  );
  const named = parts.filter((part) => part !== broker);
  const marks =
    options.keepWorkers === true
      ? new Map<string, Mark | null>()
      : await ownersOf(
          named.map((part) => part.name),
          deployment,
        );
  const workers = named.filter((part) => isOwn(marks.get(part.name), deployment));
  const staying = named.filter((part) => !workers.includes(part));
  const alone = [...marks].filter(([, mark]) => !isOwn(mark, deployment)).map(aloneText);
  const going = [...workers, ...(end.kind === "goes" ? [broker] : [])];
  if (going.length === 0 && end.kind !== "stays") {
    const why = marks.size === 0 ? ": none of these Workers is on the account." : ".";
    printer.print([...alone, `There is nothing to delete${why}`].join("\n"));
    return 0;
  }
  printer.print(listText(workers, alone, end, name));
  printer.print(await waitsText(end, deployment, options, surroundings));
  await refuseIfBound(api, going, { broker: name, staying, force: options.force === true });
  await confirm(
    { surroundings },
    {
      name: end.kind === "goes" ? name : own.name,
      what: whatGoes(workers, end),
      force: options.force === true,
      isFinal: going.length > 0,
    },
  );

  const step = await unbindingStep(end, live, broker, deployment);
  if (step !== null) {
    const migration = await api.migrationTag(name);
    await watch.guard(() =>
      upload(step, {
        wrangler,
        message: "sluice destroy",
        secrets: {},
        migration,
        yes: true,
        wait: async () => undefined,
      }),
    );
    printer.print(`${name}  ${end.kind === "goes" ? "calls no Worker any more" : "goes on without these"}`);
  }
  const names = new Set(workers.map((part) => part.name));
  const ordered = inOrder(
    workers.map((part) => ({ part })),
    names,
  ).reverse();
  for (const { part } of ordered) {
    // Another deployment may have come in between: look again right before each step.
    const [changed] = [...(await ownersOf([part.name], deployment))].filter(
      ([, mark]) => !isOwn(mark, deployment),
    );
    if (changed === undefined) await remove(part, deployment, printer);
    else printer.print(aloneText(changed));
  }
  if (end.kind === "goes") {
    await watch.refuseChange();
    await remove(broker, deployment, printer);
    // The token in the file opens nothing any more, so the file goes.
    rmSync(deployment.accessFile, { force: true });
  }
  return 0;
}

function endOf({ isThere, register }: LiveBroker, own: OwnProject): BrokerEnd {
  if (!isThere) return { kind: "absent" };
  if (register === null) return { kind: "goes" };
  const without = leaveRegister(register, own);
  if (without === register) return { kind: "untouched", register };
  return Object.keys(without.projects).length === 0 ? { kind: "goes" } : { kind: "stays", without };
}

/** Returns the register for the broker's configuration: without this project where the broker stays, else complete. */
function registerFor(end: BrokerEnd, { register }: LiveBroker, { name, entry }: OwnProject): Register {
  if (end.kind === "stays") return end.without;
  return register ?? { format: 1, by: name, projects: { [name]: entry } };
}

async function boundAfter(
  end: BrokerEnd,
  { api, own }: Deployment,
  { services }: LiveBroker,
): Promise<readonly string[]> {
  if (end.kind !== "stays") return [];
  const others = await othersOf(end.without, own, services, api);
  return others.filter(({ standing }) => standing === "bound").map(({ worker }) => worker);
}

/** Formats a line for a Worker that stays, because its live version is not this project's for this broker. */
function aloneText([name, mark]: readonly [string, Mark | null]): string {
  return mark === null
    ? `  • ${name}  is left alone: what runs there was not deployed by "sluice deploy" (npx wrangler delete --name ${name} deletes it)`
    : `  • ${name}  is left alone: what runs there was deployed to the broker "${mark.broker}"`;
}

/** Lists in sentences what the command deletes. */
function whatGoes(workers: readonly Part[], end: BrokerEnd): string {
  const names = workers.map(({ name }) => `"${name}"`).join(" and ");
  const deleted = names === "" ? "No Worker is deleted." : `Deleted: ${names}.`;
  switch (end.kind) {
    case "goes":
      return `${deleted} The broker is deleted with all of its messages.`;
    case "stays":
      return `${deleted} The broker stays with all of its messages, and forgets what these Workers do with its queues.`;
    case "absent":
    case "untouched":
      return deleted;
  }
}

function listText(
  workers: readonly Part[],
  alone: readonly string[],
  end: BrokerEnd,
  broker: string,
): string {
  const lines = [...workers.map(({ name }) => `  - ${name}`), ...alone];
  const hint =
    workers.length === 0
      ? []
      : ["", "The Workers themselves are deleted, with their code and data. --keep-workers leaves them."];
  return [...lines, ...brokerLines(end, broker), ...hint, ""].join("\n");
}

function brokerLines(end: BrokerEnd, broker: string): string[] {
  switch (end.kind) {
    case "absent":
      return [];
    case "goes":
      return [`  - ${broker}`];
    case "stays":
      return [`  ~ ${broker}  stays: it serves ${servedBy(end.without)}`];
    case "untouched":
      return [`  • ${broker}  is left alone: it serves ${servedBy(end.register)}`];
  }
}

function servedBy({ projects }: Register): string {
  return Object.entries(projects)
    .map(([project, { workers }]) => `${Object.keys(workers).join(", ")} of the project "${project}"`)
    .join(" and ");
}

/** Says which messages are lost with the broker, or stay in it. */
async function waitsText(
  end: BrokerEnd,
  deployment: Deployment,
  options: AskOptions,
  surroundings: Surroundings,
): Promise<string> {
  switch (end.kind) {
    case "absent":
      return "The broker is gone already.";
    case "untouched":
      return "The broker has nothing of these any more.";
    case "goes":
      return waitingText(await lookAtQueues(deployment, options, surroundings), "These are lost with it:");
    case "stays": {
      const consumed = Object.values(deployment.own.entry.workers).flatMap(({ consumers }) => consumers);
      const queues = new Set(consumed.map(({ queue }) => queue));
      const waiting = await lookAtQueues(deployment, options, surroundings, queues);
      return waitingText(waiting, "These stay in the broker, and no Worker consumes them:");
    }
  }
}

/** Plans the upload that unbinds the Workers from the broker; `null` where it calls none of them. */
async function unbindingStep(
  end: BrokerEnd,
  { services }: LiveBroker,
  broker: Part,
  { wrangler }: Deployment,
): Promise<Step | null> {
  switch (end.kind) {
    case "absent":
    case "untouched":
      return null;
    case "goes":
      // Cloudflare deletes no Worker that another one is bound to: neither those that the broker calls, nor the broker
      // before its senders.
      return services.length === 0
        ? null
        : { part: broker, tag: "sluice-removed", without: [...broker.needs, ...services] };
    case "stays":
      return { part: broker, tag: (await bundled(broker, wrangler)).tag, without: [] };
  }
}

async function remove(
  { name }: Part,
  { wrangler, credentials, account }: Deployment,
  printer: Printer,
): Promise<void> {
  const { code, all } = await wrangler(["delete", name, "--force"]);
  if (code !== 0) {
    throw new CliError(
      `"${name}" was not deleted. Run the same command again to go on. Wrangler says:\n${all}${hintFor(all, credentials, account)}`,
    );
  }
  printer.print(`${name}  deleted`);
}

interface Bounds {
  readonly broker: string;
  /** Workers of the project that are not deleted. */
  readonly staying: readonly Part[];
  readonly force: boolean;
}

/**
 * Refuses to delete what other Workers are bound to.
 *
 * @throws CliError where other Workers of the account would lose a binding, unless `force` is set. Always where Workers
 *   of the project stay and send to a broker that is deleted.
 */
async function refuseIfBound(
  api: CloudflareApi,
  parts: readonly Part[],
  { broker, staying, force }: Bounds,
): Promise<void> {
  // The broker's bindings do not count: it is deployed without these Workers first.
  const ours = new Set([broker, ...parts.map(({ name }) => name)]);
  const lines: string[] = [];
  for (const { name } of parts) {
    const others = (await api.boundTo(name)).filter((other) => !ours.has(other));
    const senders =
      name === broker ? others.filter((other) => staying.some((part) => part.name === other)) : [];
    if (senders.length > 0) {
      throw new CliError(
        `The broker "${broker}" is not deleted: these Workers stay and send to it: ${senders.join(", ")}. Deploy them ` +
          `without it first, by "wrangler deploy" in their folders, or delete them.`,
      );
    }
    if (others.length > 0) lines.push(`  ${name}: ${others.join(", ")}`);
  }
  if (lines.length === 0 || force) return;
  throw new CliError(
    `Other Workers are bound to these, and would break:\n${lines.join("\n")}\n--force deletes them nevertheless.`,
    EXIT_NOT_CONFIRMED,
  );
}
