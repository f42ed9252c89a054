import { type Command, Option } from "commander";
import { type Execute, examples, type OnBrokerOptions, onBroker, seconds, withBroker } from "../on-broker.ts";
import type { AdoptOptions } from "./adopt.ts";
import type { EjectOptions } from "./eject.ts";
import { LEASE_SECONDS_DEFAULT, SYSTEMS } from "./options.ts";

/** Adds `sluice adopt` and `sluice eject`, which move a queue in and out while it is used. */
export function addBridge(program: Command, execute: Execute): void {
  bridging(program.command("adopt"))
    .description("move a queue of Cloudflare or SQS to Sluice: settings and messages, each once")
    .addOption(systemOption("--from <system>", "where the queue is"))
    .option("--as <name>", "name of the queue on Sluice (default: the same)")
    .option(
      "--detach-consumer",
      "take the Worker that consumes the old queue away until the end (Cloudflare)",
    )
    .addHelpText(
      "after",
      examples(
        "sluice adopt orders --from cloudflare --dry-run",
        "sluice adopt orders --from cloudflare --detach-consumer",
        "sluice adopt jobs.fifo --from sqs --yes --follow",
        "AWS_ENDPOINT_URL=http://localhost:4566 sluice adopt jobs --from sqs    # LocalStack",
      ),
    )
    .action((queue: string, options: OnBrokerOptions & AdoptOptions) =>
      onBroker(execute, options, async (on) => (await import("./adopt.ts")).adopt(on, queue, options)),
    );
  bridging(program.command("eject"))
    .description("move a queue of Sluice to Cloudflare or SQS: settings and messages")
    .addOption(systemOption("--to <system>", "where the queue goes"))
    .option("--as <name>", "name of the queue there (default: the same)")
    .addHelpText(
      "after",
      examples("sluice eject orders --to cloudflare --dry-run", "sluice eject jobs.fifo --to sqs --yes"),
    )
    .action((queue: string, options: OnBrokerOptions & EjectOptions) =>
      onBroker(execute, options, async (on) => (await import("./eject.ts")).eject(on, queue, options)),
    );
}

function bridging(command: Command): Command {
  return withBroker(command)
    .argument("<queue>", "name of the queue")
    .option("--dry-run", "show the plan, and do nothing")
    .option("--yes", "do it without asking")
    .option("--follow", "go on until it is stopped, while producers still send to the old queue")
    .option(
      "--lease-secs <seconds>",
      `how long a message that is on its way is nobody else's (default: ${LEASE_SECONDS_DEFAULT})`,
      seconds(1, 43_200),
    );
}

function systemOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(SYSTEMS).makeOptionMandatory();
}
