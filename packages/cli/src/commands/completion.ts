import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { examples } from "./on-broker.ts";

/** Hidden command that a shell's script calls. The words to complete stand behind `--`. */
export const COMPLETE_COMMAND = "complete";

const EXAMPLES = [
  "source <(sluice completion bash)                                    # in ~/.bashrc",
  "source <(sluice completion zsh)                                     # in ~/.zshrc",
  "sluice completion fish > ~/.config/fish/completions/sluice.fish",
];

/**
 * Adds `sluice completion SHELL`, which prints a script for a shell's completion, and the command that the script
 * calls. Call it last: it goes through all commands that the program has.
 */
export function addCompletion(program: Command): void {
  const name = "completion";
  tab(program, { completionCommandName: name });
  program.commands
    .find((command) => command.name() === name)
    ?.description("print a script that has a shell complete commands and options")
    .addHelpText("after", examples(...EXAMPLES));
}
