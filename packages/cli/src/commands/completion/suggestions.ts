import addTab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { BrokerClient } from "../../client/broker-client.ts";
import { findBroker } from "../../client/find-broker.ts";
import { samplesOfEvents } from "../../client/messages.ts";
import { queueNames } from "../../client/queue-names.ts";
import type { Surroundings } from "../../surroundings.ts";
import { SYSTEMS } from "../bridge/options.ts";

/** Time limit for the broker's answer, in ms: a person waits for the completion of a word. */
const NAMES_PATIENCE_MS = 500;

const EVENT = "--event";

/**
 * Adds the hidden command that a shell's completion script calls, and `completion`. Call it last: it reads all commands
 * of the program.
 *
 * @param words words of the line to be completed, without `sluice`.
 */
export async function addSuggestions(
  program: Command,
  words: readonly string[],
  surroundings: Surroundings,
): Promise<void> {
  const [queues, events] = await Promise.all([
    namesToComplete(words, surroundings, queueNames),
    words.at(-2) === EVENT ? namesToComplete(words, surroundings, eventNames) : [],
  ]);
  const { commands } = addTab(program, { completionCommandName: "completion" });
  const suggestQueues = (complete: (value: string, description: string) => void) => {
    for (const queue of queues) complete(queue, "queue");
  };
  for (const [path, command] of commands) {
    for (const argument of command.arguments.values()) {
      if (isQueue(path, argument.name)) argument.handler = suggestQueues;
    }
    for (const option of command.options.values()) {
      if (isQueue(path, option.value)) option.handler = suggestQueues;
      if (isSystem(path, option.value)) {
        option.handler = (complete) => {
          for (const name of SYSTEMS) complete(name, "system");
        };
      }
      if (`--${option.value}` === EVENT) {
        option.handler = (complete) => {
          for (const name of events) complete(name, "event");
        };
      }
    }
    // The library keeps only one long name of an option.
    const { description } = command.options.get("env") ?? {};
    if (description !== undefined) command.option("mode", description, () => {});
  }
}

/** Whether an argument or an option of a command is the name of a queue that exists. */
function isQueue(path: string, name: string): boolean {
  if (name === "name") return path.startsWith("queues ") && path !== "queues create";
  return (name === "queue" || name === "to") && path !== "worker-daemon" && !isSystem(path, name);
}

/** Whether an option of a command is the name of another queue system. */
function isSystem(path: string, name: string): boolean {
  return (path === "adopt" && name === "from") || (path === "eject" && name === "to");
}

/**
 * Reads names from the broker that a line to be completed is for. Returns none where there is no broker, or where it
 * does not answer within 500 ms.
 *
 * @param words words of the line, without `sluice`.
 */
async function namesToComplete(
  words: readonly string[],
  surroundings: Surroundings,
  ask: (client: BrokerClient, patienceMs: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  // The first word is a command.
  if (words.length < 2) return [];
  const optionIn = (option: string) => {
    const at = words.indexOf(option);
    return at === -1 ? undefined : words[at + 1];
  };
  const [url, token] = [optionIn("--url"), optionIn("--token")];
  try {
    const options = { ...(url === undefined ? {} : { url }), ...(token === undefined ? {} : { token }) };
    return await ask(new BrokerClient(findBroker(options, surroundings)), NAMES_PATIENCE_MS);
  } catch {
    return [];
  }
}

async function eventNames(client: BrokerClient, patienceMs: number): Promise<readonly string[]> {
  return (await samplesOfEvents(client, patienceMs)).map(({ name }) => name);
}
