import { rmSync } from "node:fs";
import { BrokerClient } from "../../client/broker-client.ts";
import { findBroker } from "../../client/find-broker.ts";
import { allQueues } from "../../client/queues.ts";
import { CliError, EXIT_NOT_CONFIRMED } from "../../errors.ts";
import type { Printer } from "../../report/printer.ts";
import { plural } from "../../report/words.ts";
import type { Surroundings } from "../../surroundings.ts";
import { confirm } from "../on-broker.ts";
import { readAccess } from "./broker-access.ts";
import type { CloudflareApi } from "./cloudflare-api.ts";
import { type Deployment, type DeploymentOptions, openDeployment } from "./deployment.ts";
import type { Part } from "./parts.ts";
import { inOrder } from "./steps.ts";
import { upload } from "./uploads.ts";

export interface DestroyOptions extends DeploymentOptions {
  /** The broker's address and token. Default: those of the last `sluice deploy` in this folder. */
  readonly url?: string;
  readonly token?: string;
  /** Ask nothing. Also deletes what messages still wait in, and what other Workers are bound to. */
  readonly force?: boolean;
}

/**
 * `sluice destroy`: deletes the Workers of a project and their broker with all of its messages, after a look at what
 * still waits. A run after one that has failed goes on where that one stopped.
 */
export async function destroy(
  options: DestroyOptions,
  printer: Printer,
  surroundings: Surroundings,
): Promise<number> {
  const deployment = await openDeployment(options, printer, surroundings);
  const { broker, parts, wrangler } = deployment;
  const api = await deployment.api();
  const present: Part[] = [];
  for (const part of parts) if ((await api.deployed(part.name)) !== null) present.push(part);
  if (present.length === 0) {
    printer.print("There is nothing to delete: none of these Workers is on the account.");
    return 0;
  }
  const isThere = present.includes(broker);
  const waiting = isThere
    ? await lookAtQueues(deployment, options, surroundings)
    : "The broker is gone already.";
  printer.print([...present.map(({ name }) => `  - ${name}`), "", waiting].join("\n"));
  await refuseIfBound(api, present, options.force === true);
  const asked = { name: broker.name, what: "All of it is deleted.", force: options.force === true };
  await confirm({ surroundings }, asked);

  const unbound = isThere ? await calledBy(api, broker) : [];
  if (unbound.length > 0) {
    // Nothing can be deleted that the broker is bound to, and the broker not before those that send to it.
    const step = { part: broker, tag: "sluice-removed", without: [...broker.needs, ...unbound] };
    const meant = { message: "sluice destroy", secrets: {}, yes: true, wait: async () => undefined };
    await upload(step, { wrangler, ...meant });
    printer.print(`${broker.name}  calls nobody any more`);
  }
  const workers = present.filter((part) => part !== broker).map((part) => ({ part }));
  const names = new Set(present.map(({ name }) => name));
  const order = [
    ...inOrder(workers, names)
      .reverse()
      .map(({ part }) => part),
    ...(isThere ? [broker] : []),
  ];
  for (const { name } of order) {
    const { code, all } = await wrangler(["delete", name, "--force"]);
    if (code !== 0) {
      throw new CliError(
        `"${name}" was not deleted. Run the same command again to go on. Wrangler says:\n${all}`,
      );
    }
    printer.print(`${name}  deleted`);
  }
  // Its token opens nothing any more.
  rmSync(deployment.accessFile, { force: true });
  return 0;
}

/** Says what would be lost with the broker. */
async function lookAtQueues(
  { accessFile }: Deployment,
  options: Pick<DestroyOptions, "url" | "token">,
  { cwd, env }: Surroundings,
): Promise<string> {
  const kept = readAccess(accessFile);
  const url = options.url ?? env.SLUICE_URL ?? kept.SLUICE_URL;
  const token = options.token ?? env.SLUICE_API_TOKEN ?? kept.SLUICE_API_TOKEN;
  if (!url) {
    return "What still waits in the queues is not known: --url and --token name the broker.";
  }
  try {
    const client = new BrokerClient(findBroker({ url, ...(token ? { token } : {}) }, { cwd, env }));
    const waits = (await allQueues(client)).flatMap(({ name, messages: { ready, delayed, leased } }) => {
      const count = ready + delayed + leased;
      return count === 0 ? [] : [`  ${plural(count, "message")} in "${name}"`];
    });
    return waits.length === 0 ? "No message waits." : ["These are lost with it:", ...waits].join("\n");
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `What still waits in the queues is not known: ${error.message}`;
  }
}

/** @throws CliError where other Workers of the account would be left without what they are bound to. */
async function refuseIfBound(api: CloudflareApi, parts: readonly Part[], force: boolean): Promise<void> {
  const ours = new Set(parts.map(({ name }) => name));
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

/** Workers that the broker is bound to now. */
async function calledBy(api: CloudflareApi, { name }: Part): Promise<readonly string[]> {
  const id = (await api.deployed(name))?.at(-1);
  return id === undefined ? [] : (await api.version(name, id)).services;
}
