import type { Command } from "commander";
import { type Execute, examples } from "../on-broker.ts";
import type { InitOptions } from "./init.ts";

/** Adds `sluice init`. */
export function addInit(program: Command, execute: Execute): void {
  program
    .command("init")
    .description("make the project of the current folder run on Sluice: dependency, script, Vite and Vitest")
    .option("-y, --yes", "change without asking")
    .option("--dry-run", "show what would be changed, and change nothing")
    .option(
      "--from <folder>",
      "install packed packages from this folder (default: where this command came from)",
    )
    .addHelpText("after", examples("sluice init --dry-run", "sluice init --yes --from /tmp"))
    .action((options: InitOptions) =>
      execute(async (printer, surroundings) =>
        (await import("./init.ts")).init(options, printer, surroundings),
      ),
    );
}
