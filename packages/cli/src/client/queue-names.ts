import { Command } from "commander";
import { type BrokerClient, BrokerFailure } from "./broker-client.ts";

/**
 * Lists the names of all queues, without calling a queue's object.
 *
 * @param patienceMs time limit. Default: 60,000.
 * @throws BrokerFailure
 */
export async function queueNames(client: BrokerClient, patienceMs?: number): Promise<readonly string[]> {
  const request = { path: "", ...(patienceMs === undefined ? {} : { patienceMs }) };
  const queues = await client.rest<{ queue_name: string }[]>(request);
  return queues.map(({ queue_name }) => queue_name);
}

/**
 * Adds the most similar names to the failure of a command that names a queue which does not exist. Other failures, and
 * that of a broker which does not list its queues, stay as they are.
 */
export async function withSimilarNames(failure: unknown, client: BrokerClient): Promise<unknown> {
  if (!(failure instanceof BrokerFailure) || failure.code !== "queue_not_found") return failure;
  const [, name] = /queue "([^"]*)"/.exec(failure.message) ?? [];
  const names = name === undefined ? [] : await queueNames(client).catch(() => []);
  const { message, exitCode, code } = failure;
  return new BrokerFailure(`${message}${suggestion(name ?? "", names)}`, exitCode, code);
}

/** Makes a suggestion on a line of its own, as Commander does for an unknown command. */
export function suggestion(name: string, names: readonly string[]): string {
  const commands = new Command()
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  for (const one of names) commands.command(one);
  try {
    commands.parse(["--", name], { from: "user" });
  } catch (error) {
    if (error instanceof Error) return /\n\(Did you mean .*\?\)/.exec(error.message)?.[0] ?? "";
  }
  return "";
}
