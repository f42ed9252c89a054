import { Argument, type Command } from "commander";
import { type Execute, examples } from "../on-broker.ts";

const EXAMPLES = [
  "source <(sluice completion bash)                                    # in ~/.bashrc",
  "source <(sluice completion zsh)                                     # in ~/.zshrc",
  "sluice completion fish > ~/.config/fish/completions/sluice.fish",
];

/** Adds `sluice completion SHELL`, which prints a script for a shell's completion. */
export function addCompletion(program: Command, execute: Execute): void {
  program
    .command("completion")
    .description("print a script that has a shell complete commands, options and queues")
    .addArgument(new Argument("<shell>", "shell").choices(["zsh", "bash", "fish", "powershell"]))
    .addHelpText("after", examples(...EXAMPLES))
    .action((shell: string) =>
      execute(async (printer) => {
        printer.print((await import("./script.ts")).scriptFor(shell));
        return 0;
      }),
    );
}
