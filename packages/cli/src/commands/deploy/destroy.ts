import { rmSync } from "node:fs";
import { CliError, EXIT_NOT_CONFIRMED } from "../../errors.ts";
import type { Register } from "../../register/register.ts";
import { left, type OwnProject } from "../../register/serve-projects.ts";
import type { Printer } from "../../report/printer.ts";
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
import { BrokerWatch, type LiveBroker, readLiveBroker } from "./live-broker.ts";
import { othersOf } from "./others.ts";
import type { Part } from "./parts.ts";
import { inOrder, type Step } from "./steps.ts";
import { upload } from "./uploads.ts";
import { type AskOptions, lookAtQueues, waitingText } from "./waiting.ts";

export interface DestroyOptions extends DeploymentOptions, AskOptions {
  /** Ask nothing. Also deletes what messages still wait in, and what other Workers are bound to. */
  readonly force?: boolean;
  /** Delete the broker, or what it has of this project, and leave the Workers. */
  readonly keepWorkers?: boolean;
}

/** The fate of the broker when a project leaves it. */
type BrokerEnd =
  | { readonly kind: "absent" }
  /** Nobody is left: it is deleted. */
  | { readonly kind: "goes" }
  /** Others are left: it is deployed without the Workers that go. */
  | { readonly kind: "stays"; readonly without: Register }
  /** It serves others alone. */
  | { readonly kind: "untouched"; readonly register: Register };

/**
 * `sluice destroy`: deletes the Workers of a project and what their broker has of them, after a look at what still
 * waits. The broker itself goes with the last Worker that it serves. A run after one that has failed goes on where that
 * one stopped.
 */
export async function destroy(
  options: DestroyOptions,
  printer: Printer,
  surroundings: Surroundings,
  start?: StartWrangler,
): Promise<number> {
  const deployment = await openDeployment({ ...options, command: "destroy" }, printer, surroundings, start);
  const { api, wrangler, project, own } = deployment;
  const name = project.broker.name;
  const live = await readLiveBroker(api, name);
  const end = endOf(live, own);
  const { parts, broker } = planParts(
    deployment,
    registerFor(end, live, own),
    null,
    await boundAfter(end, deployment, live),
  );
  const workers =
    options.keepWorkers === true
      ? []
      : await presentAmong(
          parts.filter((part) => part !== broker),
          api,
        );
  const going = [...workers, ...(end.kind === "goes" ? [broker] : [])];
  if (going.length === 0 && end.kind !== "stays") {
    printer.print("There is nothing to delete: none of these Workers is on the account.");
    return 0;
  }
  printer.print(listText(workers, end, name));
  printer.print(await waitsText(end, deployment, options, surroundings));
  await refuseIfBound(api, going, name, options.force === true);
  const asked = { name: end.kind === "goes" ? name : own.name, what: "All of it is deleted." };
  await confirm({ surroundings }, { ...asked, force: options.force === true });

  const watch = new BrokerWatch(api, name, live.version);
  const step = await unbindingStep(end, live, broker, deployment);
  if (step !== null) {
    await watch.guard(() =>
      upload(step, {
        wrangler,
        message: "sluice destroy",
        secrets: {},
        yes: true,
        wait: async () => undefined,
      }),
    );
    printer.print(`${name}  ${end.kind === "goes" ? "calls nobody any more" : "goes on without these"}`);
  }
  const names = new Set(workers.map((part) => part.name));
  const ordered = inOrder(
    workers.map((part) => ({ part })),
    names,
  ).reverse();
  for (const { part } of ordered) await remove(part, deployment, printer);
  if (end.kind === "goes") {
    await watch.refuseChange();
    await remove(broker, deployment, printer);
    // Its token opens nothing any more.
    rmSync(deployment.accessFile, { force: true });
  }
  return 0;
}

function endOf({ isThere, register }: LiveBroker, own: OwnProject): BrokerEnd {
  if (!isThere) return { kind: "absent" };
  if (register === null) return { kind: "goes" };
  const without = left(register, own);
  if (without === register) return { kind: "untouched", register };
  return Object.keys(without.projects).length === 0 ? { kind: "goes" } : { kind: "stays", without };
}

/** Whom the broker is generated for: all until it goes, those that are left where it stays. */
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

async function presentAmong(parts: readonly Part[], api: CloudflareApi): Promise<Part[]> {
  const present: Part[] = [];
  for (const part of parts) if ((await api.deployed(part.name)) !== null) present.push(part);
  return present;
}

function listText(workers: readonly Part[], end: BrokerEnd, broker: string): string {
  const lines = workers.map(({ name }) => `  - ${name}`);
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

/** Says what would be lost with the broker, or would be left in it. */
async function waitsText(
  end: BrokerEnd,
  { accessFile, own }: Deployment,
  options: AskOptions,
  surroundings: Surroundings,
): Promise<string> {
  switch (end.kind) {
    case "absent":
      return "The broker is gone already.";
    case "untouched":
      return "The broker has nothing of these any more.";
    case "goes":
      return waitingText(await lookAtQueues(accessFile, options, surroundings), "These are lost with it:");
    case "stays": {
      const consumed = Object.values(own.entry.workers).flatMap(({ consumers }) => consumers);
      const queues = new Set(consumed.map(({ queue }) => queue));
      const waiting = await lookAtQueues(accessFile, options, surroundings, queues);
      return waitingText(waiting, "These stay in the broker, and nobody consumes them:");
    }
  }
}

/** The upload that takes the Workers from the broker; `null` where it calls none of them. */
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
      // Nothing can be deleted that the broker is bound to, and the broker not before those that send to it.
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

/** @throws CliError where other Workers of the account would be left without what they are bound to. */
async function refuseIfBound(
  api: CloudflareApi,
  parts: readonly Part[],
  broker: string,
  force: boolean,
): Promise<void> {
  // The broker is told first that it does not call them any more.
  const ours = new Set([broker, ...parts.map(({ name }) => name)]);
  const lines: string[] = [];
  for (const { name } of parts) {
    const others = (await api.boundTo(name)).filter((other) => !ours.has(other));
    if (others.length > 0) lines.push(`  ${name}: ${others.join(", ")}`);
  }
  if (lines.length === 0 || force) return;
  throw new CliError(
    `Other Workers are bound to these, and would break:\n${lines.join("\n")}\n--force deletes them nevertheless.`,
    EXIT_NOT_CONFIRMED,
  );
}
