import { DELAY_SECONDS_MAX, RETENTION_SECONDS_MAX, RETENTION_SECONDS_MIN } from "@sluice/protocol";
import type { Command } from "commander";
import {
  collect,
  type Execute,
  examples,
  type OnBrokerOptions,
  onBroker,
  positive,
  seconds,
  shards,
  withBroker,
} from "../on-broker.ts";
import type { RedriveOptions } from "./redrive.ts";
import type { SettingsOptions } from "./settings.ts";

const delay = seconds(0, DELAY_SECONDS_MAX);
const retention = seconds(RETENTION_SECONDS_MIN, RETENTION_SECONDS_MAX);

type Options<T = object> = OnBrokerOptions & T;

/** Adds `sluice queues`, in the grammar of `wrangler queues`. */
export function addQueues(program: Command, execute: Execute): void {
  const queues = program
    .command("queues")
    .description("list, create and change queues, and act on what they hold")
    .addHelpText("after", QUEUES_EXAMPLES);

  withBroker(queues.command("list"))
    .description("list the queues with their messages, consumers and state")
    .option("--page <number>", "100 queues at a time, this page of them (default: all)", positive)
    .addHelpText("after", examples("sluice queues list", "sluice queues list --json | jq '.[].name'"))
    .action((options: Options<{ page?: number }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./list.ts")).listQueues(on, options.page ?? null),
      ),
    );
  withBroker(queues.command("info"))
    .description("show everything about a queue")
    .argument("<name>", "name of the queue")
    .option("--shards", "each object that keeps the queue, instead")
    .addHelpText(
      "after",
      examples(
        "sluice queues info orders",
        "sluice queues info orders --shards",
        "sluice queues info orders --json",
      ),
    )
    .action((name: string, options: Options<{ shards?: boolean }>) =>
      onBroker(execute, options, async (on) =>
        options.shards === true
          ? (await import("./shards.ts")).showShards(on, name)
          : (await import("./list.ts")).showQueue(on, name),
      ),
    );
  withSettings(withBroker(queues.command("create")))
    .description("create a queue")
    .argument("<name>", "name of the queue: letters, digits and hyphens")
    .addHelpText(
      "after",
      examples("sluice queues create orders", "sluice queues create mails --delivery-delay-secs 60"),
    )
    .action((name: string, options: Options<SettingsOptions>) =>
      onBroker(execute, options, async (on) => (await import("./settings.ts")).create(on, name, options)),
    );
  withSettings(withBroker(queues.command("update")))
    .description("change a queue's settings; others stay")
    .argument("<name>", "name of the queue")
    .option("--shards <number>", "objects that keep the queue, 1 to 100", shards)
    .addHelpText(
      "after",
      examples(
        "sluice queues update orders --message-retention-period-secs 86400",
        "sluice queues update orders --shards 4",
      ),
    )
    .action((name: string, options: Options<SettingsOptions>) =>
      onBroker(execute, options, async (on) => (await import("./settings.ts")).update(on, name, options)),
    );
  withForce(withBroker(queues.command("delete")))
    .description("delete a queue with everything in it")
    .argument("<name>", "name of the queue")
    .addHelpText("after", examples("sluice queues delete orders", "sluice queues delete orders --force"))
    .action((name: string, options: Options<{ force?: boolean }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./remove.ts")).remove(on, name, options.force === true),
      ),
    );
  withBroker(queues.command("pause-delivery").alias("pause"))
    .description("stop delivery until it is resumed; sends go on")
    .argument("<name>", "name of the queue")
    .addHelpText("after", examples("sluice queues pause orders"))
    .action((name: string, options: Options) =>
      onBroker(execute, options, async (on) => (await import("./settings.ts")).pause(on, name)),
    );
  withBroker(queues.command("resume-delivery").alias("resume"))
    .description("deliver again")
    .argument("<name>", "name of the queue")
    .addHelpText("after", examples("sluice queues resume orders"))
    .action((name: string, options: Options) =>
      onBroker(execute, options, async (on) => (await import("./settings.ts")).resume(on, name)),
    );
  withForce(withBroker(queues.command("purge")))
    .description("delete every message of a queue, leased ones too")
    .argument("<name>", "name of the queue")
    .addHelpText("after", examples("sluice queues purge orders", "sluice queues purge orders --force"))
    .action((name: string, options: Options<{ force?: boolean }>) =>
      onBroker(execute, options, async (on) =>
        (await import("./remove.ts")).purge(on, name, options.force === true),
      ),
    );
  withBroker(queues.command("redrive"))
    .description("move the messages of a dead-letter queue, or some of them, and wait for the end")
    .argument("<name>", "name of the dead-letter queue")
    .option("--to <queue>", "queue that takes the messages (default: those that they came from)")
    .option(
      "--filter <terms>",
      "messages to move, as in sluice messages peek (default: those that are ready)",
    )
    .option("--id <id>", "this message, by its id, its first 8 digits or its ref; repeatable", collect)
    .option("--limit <number>", "most messages to move", positive)
    .option("--dry-run", "move nothing; say how many would move, and show the first of them")
    .option("--no-wait", "return when the move has begun")
    .option("--cancel", "end the move that is under way")
    .addHelpText(
      "after",
      examples(
        "sluice queues redrive orders-dead",
        "sluice queues redrive orders-dead --to orders",
        "sluice queues redrive orders-dead --filter 'age:<1h lamp' --dry-run",
        "sluice queues redrive orders-dead --filter 'age:<1h lamp' --limit 3",
        "sluice queues redrive orders-dead --cancel",
      ),
    )
    .action((name: string, options: Options<RedriveOptions>) =>
      onBroker(execute, options, async (on) => (await import("./redrive.ts")).redrive(on, name, options)),
    );
}

const QUEUES_EXAMPLES = examples(
  "sluice queues list",
  "sluice queues info orders",
  "sluice queues redrive orders-dead --to orders",
);

function withSettings(command: Command): Command {
  return command
    .option("--delivery-delay-secs <number>", "default delay of messages in seconds, 0 to 86400", delay)
    .option(
      "--message-retention-period-secs <number>",
      "seconds to keep a message, 60 to 1209600",
      retention,
    );
}

function withForce(command: Command): Command {
  return command.option("--force", "do it without asking");
}
