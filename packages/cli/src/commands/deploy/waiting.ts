import { CliError } from "@sluice/project/errors";
import { plural } from "@sluice/protocol/words";
import { BrokerClient } from "../../client/broker-client.ts";
import { findBroker } from "../../client/find-broker.ts";
import { allQueues } from "../../client/queues.ts";
import type { Surroundings } from "../../surroundings.ts";
import { readAccess } from "./broker-access.ts";

/** Address and token for asking a broker which messages wait. */
export interface AskOptions {
  /** The broker's address and token. Default: those of the last `sluice deploy` in this folder. */
  readonly url?: string;
  readonly token?: string;
}

/** Messages that wait in a broker. */
export type Waiting =
  /** Lines that name queues, each with its number of waiting messages. */
  | { readonly kind: "known"; readonly lines: readonly string[] }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Counts the messages that wait in a broker.
 *
 * @param accessFile file with the broker's address and token, as `sluice deploy` has written it.
 * @param queues names of the queues to look at. Default: all.
 */
export async function lookAtQueues(
  accessFile: string,
  options: AskOptions,
  { cwd, env }: Pick<Surroundings, "cwd" | "env">,
  queues?: ReadonlySet<string>,
): Promise<Waiting> {
  const kept = readAccess(accessFile);
  const url = options.url ?? env.SLUICE_URL ?? kept.SLUICE_URL;
  const token = options.token ?? env.SLUICE_API_TOKEN ?? kept.SLUICE_API_TOKEN;
  if (!url) return { kind: "unknown", why: "--url and --token name the broker." };
  try {
    const client = new BrokerClient(findBroker({ url, ...(token ? { token } : {}) }, { cwd, env }));
    const lines = (await allQueues(client)).flatMap(({ name, messages: { ready, delayed, leased } }) => {
      const count = ready + delayed + leased;
      const matters = count > 0 && queues?.has(name) !== false;
      return matters ? [`  ${plural(count, "message")} in "${name}"`] : [];
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
