import type { Command } from "commander";
import { environmentOption } from "../environment-option.ts";
import { collect, type Execute, examples } from "../on-broker.ts";
import type { DeployOptions } from "./deploy.ts";
import type { DestroyOptions } from "./destroy.ts";
import type { RollbackOptions } from "./rollback.ts";
import { withEndings } from "./run/ending.ts";

/** Adds `sluice deploy`, `sluice rollback` and `sluice destroy`. */
export function addDeploy(program: Command, run: Execute): void {
  const execute = withEndings(run);
  withProject(program.command("deploy"))
    .description("deploy Workers and their broker to a Cloudflare account, in the right order")
    .option("--dry-run", "say what would be deployed, and deploy nothing")
    .option("--force", "deploy everything, also what is unchanged")
    .option("--yes", "answer yes to what Wrangler asks, such as whether to override edits of the dashboard")
    .option("--detach <worker>", "Worker of the project that the broker forgets; can be repeated", collect)
    .addHelpText(
      "after",
      examples("sluice deploy apps/web apps/mailer", "sluice deploy --env staging --dry-run"),
    )
    .action((targets: string[], options: Omit<DeployOptions, "targets">) =>
      execute(async (printer, surroundings) =>
        (await import("./deploy.ts")).deploy({ ...options, targets }, printer, surroundings),
      ),
    );
  withBrokerAddress(withProject(program.command("rollback")))
    .description("bring Workers and broker back to what the last deployment replaced; data stays")
    .option("--force", "also where it leaves messages behind in the broker, or brings earlier secrets back")
    .addHelpText("after", examples("sluice rollback apps/web apps/mailer"))
    .action((targets: string[], options: Omit<RollbackOptions, "targets">) =>
      execute(async (printer, surroundings) =>
        (await import("./rollback.ts")).rollback({ ...options, targets }, printer, surroundings),
      ),
    );
  withBrokerAddress(withProject(program.command("destroy")))
    .description("delete Workers and their broker with all of its messages from a Cloudflare account")
    .option("--keep-workers", "delete the broker, or its entries for these Workers, and leave the Workers")
    .option("--force", "ask nothing, also where messages wait and other Workers are bound to these")
    .addHelpText(
      "after",
      examples("sluice destroy apps/web apps/mailer", "sluice destroy --env staging --force"),
    )
    .action((targets: string[], options: Omit<DestroyOptions, "targets">) =>
      execute(async (printer, surroundings) =>
        (await import("./destroy.ts")).destroy({ ...options, targets }, printer, surroundings),
      ),
    );
}

function withBrokerAddress(command: Command): Command {
  return command
    .option("--url <url>", "address of the broker, to look at what waits (default: as deployed)")
    .option("--token <token>", "one of its SLUICE_API_TOKENS (default: SLUICE_API_TOKEN, or as deployed)");
}

function withProject(command: Command): Command {
  return command
    .argument("[worker...]", "folders or Wrangler configurations of Workers (default: the current folder)")
    .addOption(environmentOption())
    .option(
      "--broker <name>",
      'what the broker is called on the account (default: [sluice] broker, or "sluice")',
    )
    .option("--outdir <folder>", "folder for what is generated (default: .sluice)");
}
