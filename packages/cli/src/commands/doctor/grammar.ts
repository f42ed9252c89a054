import type { Command } from "commander";
import { environmentOption } from "../environment-option.ts";
import { type Execute, examples } from "../on-broker.ts";

/** Adds `sluice doctor`. */
export function addDoctor(program: Command, execute: Execute): void {
  program
    .command("doctor")
    .description(
      "read a project's configuration and say what is wrong, what is missing, and what Cloudflare does otherwise",
    )
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the current folder)")
    .addOption(environmentOption())
    .option("--json", "answer in JSON")
    .addHelpText("after", examples("sluice doctor", "sluice doctor apps/producer apps/consumer --json"))
    .action((targets: string[], options: { env?: string; json?: boolean }) =>
      execute(async (printer, surroundings) =>
        (await import("./doctor.ts")).doctor({ ...options, targets }, printer, surroundings),
      ),
    );
}
