import { script } from "@bomb.sh/tab";
import addTab from "@bomb.sh/tab/commander";
import type { Printer } from "@sluice/local/report/printer";
import type { Command } from "commander";
import { BrokerClient } from "../client/broker-client.ts";
import { findBroker } from "../client/find-broker.ts";
import { queueNames } from "../client/queue-names.ts";
import type { Surroundings } from "../surroundings.ts";
import { examples } from "./on-broker.ts";

/** Hidden command that a shell's script calls. The words to complete stand behind `--`. */
export const COMPLETE_COMMAND = "complete";

/** Longest that a broker may take to name its queues, in ms: a person waits for the completion of a word. */
const NAMES_PATIENCE_MS = 500;

const EXAMPLES = [
  "source <(sluice completion bash)                                    # in ~/.bashrc",
  "source <(sluice completion zsh)                                     # in ~/.zshrc",
  "sluice completion fish > ~/.config/fish/completions/sluice.fish",
];

/**
 * Adds `sluice completion SHELL`, which prints a script for a shell's completion, and the command that the script
 * calls. Call it last: it goes through all commands that the program has.
 *
 * @param queues names that complete an argument or an option which is a queue.
 */
export function addCompletion(program: Command, printer: Printer, queues: readonly string[]): void {
  const name = "completion";
  const { commands } = addTab(program, { completionCommandName: name });
  const suggestQueues = (complete: (value: string, description: string) => void) => {
    for (const queue of queues) complete(queue, "queue");
  };
  for (const [path, command] of commands) {
    for (const argument of command.arguments.values()) {
      if (isQueue(path, argument.name)) argument.handler = suggestQueues;
    }
    for (const option of command.options.values()) {
      if (isQueue(path, option.value)) option.handler = suggestQueues;
    }
  }
  program.commands
    .find((command) => command.name() === name)
    ?.description("print a script that has a shell complete commands, options and queues")
    .addHelpText("after", examples(...EXAMPLES))
    .action((shell: string) => printer.print(scriptFor(shell)));
}

/** Whether an argument or an option of a command is the name of a queue that exists. */
function isQueue(path: string, name: string): boolean {
  if (name === "name") return path.startsWith("queues ") && path !== "queues create";
  return (name === "queue" || name === "to") && path !== "worker-daemon";
}

/** Makes a shell's script. Its second `source` must not stop at the constants of the first. */
function scriptFor(shell: string): string {
  const { log } = console;
  let text = "";
  console.log = (line: string) => {
    text += line;
  };
  try {
    script(shell, "sluice", "sluice");
  } finally {
    console.log = log;
  }
  return text.replaceAll(/^readonly (?=ShellComp)/gm, "");
}

/**
 * Names the queues of the broker that a line to be completed is for. Says nothing and names none where there is no
 * broker, or where it does not answer at once.
 *
 * @param words of the line, without `sluice`.
 */
export async function queuesToComplete(
  words: readonly string[],
  surroundings: Surroundings,
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
    return await queueNames(new BrokerClient(findBroker(options, surroundings)), NAMES_PATIENCE_MS);
  } catch {
    return [];
  }
}
