import { CliError } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { BrokerClient } from "../../client/broker-client.ts";
import { findBroker } from "../../client/find-broker.ts";
import { allQueues } from "../../client/queues.ts";
import type { Surroundings } from "../../surroundings.ts";
import { readAccess } from "./broker-access.ts";
import type { Deployment } from "./deployment.ts";

/** Address and token for asking a broker which messages wait. */
export interface AskOptions {
  /** The broker's address and token. Default: as `sluice deploy` has written them, else as the account says. */
  readonly url?: string;
  readonly token?: string;
}

/** The parts of a deployment that lead to its broker. */
type BrokerOfDeployment = Pick<Deployment, "accessFile"> & {
  readonly api: Pick<Deployment["api"], "address">;
  readonly project: { readonly broker: { readonly name: string } };
};

/** Messages that wait in a broker. */
export type Waiting =
  /** Lines that name queues, each with its number of waiting messages. */
  | { readonly kind: "known"; readonly lines: readonly string[] }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Counts the messages that wait in the broker of a deployment. `SLUICE_URL` does not count, since it may be that of
 * another broker.
 *
 * @param queues names of the queues to look at. Default: all.
 */
export async function lookAtQueues(
  { accessFile, api, project }: BrokerOfDeployment,
  options: AskOptions,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
  queues?: ReadonlySet<string>,
): Promise<Waiting> {
  const kept = readAccess(accessFile);
  try {
    const url = options.url ?? kept.SLUICE_URL ?? (await api.address(project.broker.name));
    if (!url) return { kind: "unknown", why: "--url and --token name the broker." };
    const broker = findBroker({ url }, { cwd, env });
    const named = options.url ?? (env.SLUICE_URL || url);
    // A token of the environment belongs to the address beside it.
    const isItsOwn = findBroker({ url: named }, { cwd, env }).url === broker.url;
    const given = options.token ?? (isItsOwn ? env.SLUICE_API_TOKEN : undefined);
    const client = new BrokerClient({ ...broker, token: given || kept.SLUICE_API_TOKEN || null });
    const lines = (await allQueues(client)).flatMap(({ name, messages: { ready, delayed, leased } }) => {
      const count = ready + delayed + leased;
      const isListed = count > 0 && queues?.has(name) !== false;
      return isListed ? [`  ${plural(count, "message")} in "${name}"`] : [];
    });
    return { kind: "known", lines };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: "unknown", why: error.message };
  }
}

/**
 * Formats the messages that wait.
 *
 * @param outcome what happens to them, such as `These are lost with it:`.
 */
export function waitingText(waiting: Waiting, outcome: string): string {
  if (waiting.kind === "unknown") return `What still waits in the queues is not known: ${waiting.why}`;
  return waiting.lines.length === 0 ? "No message waits." : [outcome, ...waiting.lines].join("\n");
}
