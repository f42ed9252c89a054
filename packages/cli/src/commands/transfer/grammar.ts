import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import type { Command } from "commander";
import { withFilter } from "../messages/grammar.ts";
import { type Execute, examples, type OnBrokerOptions, onBroker, withBroker } from "../on-broker.ts";
import type { ExportOptions } from "./export.ts";
import type { ImportOptions } from "./import.ts";
import type { ImportAllOptions } from "./import-all.ts";

/** Adds `sluice export` and `sluice import`. */
export function addTransfer(program: Command, execute: Execute): void {
  withFilter(withBroker(program.command("export")))
    .description("write messages as lines of JSON; nothing is leased or counted")
    .argument("[queue]", "name of the queue")
    .option("--all", "the whole broker: queues, topics, subscriptions and their messages")
    .option("--output <file>", "file to write (default: standard output)")
    .option("--resume", "continue a stopped export into a file")
    .addHelpText(
      "after",
      examples(
        "sluice export orders > orders.jsonl",
        "sluice export orders-dead --state ready --output dead.jsonl",
        "sluice export orders-dead --state ready --output dead.jsonl --resume",
        "sluice export --all --output broker.jsonl",
      ),
    )
    .action((queue: string | undefined, options: OnBrokerOptions & ExportOptions & { all?: boolean }) =>
      onBroker(execute, options, async (on) => {
        if (options.all === true) {
          const { state, filter } = options;
          if (queue !== undefined || state !== undefined || filter !== undefined) {
            throw new CliError(
              "--all exports every message of every queue: name no queue, and no filter.",
              EXIT_USAGE,
            );
          }
          return (await import("./export-all.ts")).exportAll(on, options);
        }
        if (queue === undefined) throw new CliError("Name a queue, or --all.", EXIT_USAGE);
        return (await import("./export.ts")).exportMessages(on, queue, options);
      }),
    );
  withBroker(program.command("import"))
    .description("send messages that are lines of JSON, as an export writes them")
    .argument("[queue]", "name of the queue; not with --all")
    .argument("[file]", "file to read, - for standard input (default)")
    .option("--all", "the whole broker, as export --all has written it")
    .option("--merge", "with --all: keep existing queues and topics as they are, and add the messages")
    .option("--resume", "continue a stopped import of the file")
    .option("--yes", "with --all: import the HTTP endpoints of the file without asking")
    .addHelpText(
      "after",
      examples(
        "sluice import orders orders.jsonl",
        "sluice import orders orders.jsonl --resume",
        "sluice import --all broker.jsonl",
        `echo '{"body": {"item": "lamp"}}' | sluice import orders`,
      ),
    )
    .action((first: string | undefined, second: string | undefined, options: ImportCommandOptions) =>
      onBroker(execute, options, async (on) => {
        if (options.all === true) {
          if (second !== undefined) throw new CliError("--all takes a file, and no queue.", EXIT_USAGE);
          return (await import("./import-all.ts")).importAll(on, first ?? "-", options);
        }
        if (first === undefined) throw new CliError("Name a queue, or --all.", EXIT_USAGE);
        if (options.merge === true) throw new CliError("--merge is for --all.", EXIT_USAGE);
        if (options.yes === true) throw new CliError("--yes is for --all.", EXIT_USAGE);
        return (await import("./import.ts")).importMessages(on, first, second ?? "-", options);
      }),
    );
}

type ImportCommandOptions = OnBrokerOptions & ImportOptions & ImportAllOptions & { readonly all?: boolean };
