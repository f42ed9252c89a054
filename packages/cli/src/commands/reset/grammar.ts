import type { Command } from "commander";
import { environmentOption } from "../environment-option.ts";
import { type Execute, examples } from "../on-broker.ts";
import type { ResetOptions } from "./reset.ts";

/** Adds `sluice reset`, which deletes local data. */
export function addReset(program: Command, execute: Execute): void {
  program
    .command("reset")
    .description("delete the local data of the queues, and leave KV, D1, R2 and Durable Objects beside them")
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the current folder)")
    .option("--persist-to <folder>", "folder of all data (default: .wrangler/state of the first Worker)")
    .addOption(environmentOption())
    .option("--force", "do it without asking")
    .addHelpText("after", examples("sluice reset", "sluice reset apps/web apps/mailer --force"))
    .action((targets: string[], options: Omit<ResetOptions, "targets">) =>
      execute(async (printer, surroundings) =>
        (await import("./reset.ts")).reset({ ...options, targets }, printer, surroundings),
      ),
    );
}
