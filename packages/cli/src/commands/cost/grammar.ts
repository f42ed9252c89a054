import type { Command } from "commander";
import { type Execute, examples, type OnBrokerOptions, onBroker, withBroker } from "../on-broker.ts";

/** Adds `sluice cost`, which prints what queues cost on Cloudflare. */
export function addCost(program: Command, execute: Execute): void {
  withBroker(program.command("cost"))
    .description("show what queues cost on Cloudflare this month, beside Cloudflare Queues and Amazon SQS")
    .argument("[queue]", "of this queue, by what is billed (default: of all)")
    .addHelpText(
      "after",
      examples("sluice cost", "sluice cost orders", "sluice cost --json | jq .monthEnd.beyondIncludedUsd"),
    )
    .action((queue: string | undefined, options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => (await import("./cost.ts")).showCost(on, queue ?? null)),
    );
}
