import { Command } from "commander";
import { type BrokerClient, BrokerFailure } from "./broker-client.ts";

/**
 * Lists the names of all queues. No queue is asked for its state.
 *
 * @param patienceMs longest that the broker may take. Default: that of other requests.
 * @throws BrokerFailure
 */
export async function queueNames(client: BrokerClient, patienceMs?: number): Promise<readonly string[]> {
  const request = { path: "", ...(patienceMs === undefined ? {} : { patienceMs }) };
  const queues = await client.rest<{ queue_name: string }[]>(request);
  return queues.map(({ queue_name }) => queue_name);
}

/**
 * Adds the names that are most similar to the failure of a command that names a queue which is not there. Other failures
 * stay as they are, and so does one whose broker does not list its queues.
 */
export async function withSimilarNames(failure: unknown, client: BrokerClient): Promise<unknown> {
  if (!(failure instanceof BrokerFailure) || failure.code !== "queue_not_found") return failure;
  const [, name] = /queue "([^"]*)"/.exec(failure.message) ?? [];
  const names = name === undefined ? [] : await queueNames(client).catch(() => []);
  const { message, exitCode, code } = failure;
  return new BrokerFailure(`${message}${suggestion(name ?? "", names)}`, exitCode, code);
}

/** Makes a suggestion on a line of its own, by the rule and in the words in which Commander has one for a command. */
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
