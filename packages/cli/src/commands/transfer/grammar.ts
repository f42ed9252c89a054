import type { Command } from "commander";
import { withFilter } from "../messages/grammar.ts";
import { type Execute, examples, type OnBrokerOptions, onBroker, withBroker } from "../on-broker.ts";
import type { ExportOptions } from "./export.ts";
import type { ImportOptions } from "./import.ts";

/** `sluice export` and `sluice import`. */
export function addTransfer(program: Command, execute: Execute): void {
  withFilter(withBroker(program.command("export")))
    .description("write messages as lines of JSON; nothing is leased or counted")
    .argument("<queue>", "name of the queue")
    .option("--output <file>", "file that is written (default: standard output)")
    .option("--resume", "go on with an export into a file that was stopped")
    .addHelpText(
      "after",
      examples(
        "sluice export orders > orders.jsonl",
        "sluice export orders-dead --state ready --output dead.jsonl",
        "sluice export orders-dead --state ready --output dead.jsonl --resume",
      ),
    )
    .action((queue: string, options: OnBrokerOptions & ExportOptions) =>
      onBroker(execute, options, async (on) =>
        (await import("./export.ts")).exportMessages(on, queue, options),
      ),
    );
  withBroker(program.command("import"))
    .description("send messages that are lines of JSON, as an export writes them")
    .argument("<queue>", "name of the queue")
    .argument("[file]", "file that is read, - for standard input", "-")
    .option("--resume", "go on with an import of the file that was stopped")
    .addHelpText(
      "after",
      examples(
        "sluice import orders orders.jsonl",
        "sluice import orders orders.jsonl --resume",
        `echo '{"body": {"item": "lamp"}}' | sluice import orders`,
      ),
    )
    .action((queue: string, file: string, options: OnBrokerOptions & ImportOptions) =>
      onBroker(execute, options, async (on) =>
        (await import("./import.ts")).importMessages(on, queue, file, options),
      ),
    );
}
