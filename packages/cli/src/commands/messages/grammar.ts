import { DELAY_SECONDS_MAX } from "@sluice/protocol";
import { type Command, Option } from "commander";
import { addStory } from "../events/grammar.ts";
import {
  collect,
  type Execute,
  examples,
  type OnBrokerOptions,
  onBroker,
  positive,
  seconds,
  withBroker,
} from "../on-broker.ts";
import type { ManyOptions, ResendOptions } from "./act.ts";
import { SENT_TYPES } from "./body.ts";
import type { PeekOptions } from "./look.ts";
import type { SendOptions } from "./send.ts";

const delay = seconds(0, DELAY_SECONDS_MAX);

type Options<T = object> = OnBrokerOptions & T;

const STATES = ["ready", "delayed", "leased", "finished"];

/** Adds `sluice messages`. */
export function addMessages(program: Command, execute: Execute): void {
  const messages = program
    .command("messages")
    .description("send messages, look at those that wait, and say why they do")
    .addHelpText("after", MESSAGES_EXAMPLES);
  addStory(messages, execute);

  withBroker(messages.command("send"))
    .description("send a message")
    .argument("<queue>", "name of the queue")
    .option("--body <text>", "body of the message")
    .option("--file <path>", "file that holds the body, - for standard input")
    .option(
      "--event <name>",
      "a sample of an event of Cloudflare's as the body, as in r2:object-create; any other name lists them",
    )
    .addOption(
      new Option("--content-type <type>", "content type of the body (default: json)").choices(SENT_TYPES),
    )
    .option(
      "--delay-secs <number>",
      "seconds before its delivery, 0 to 86400 (default: the queue's delay)",
      delay,
    )
    .option("--attribute <name=value>", "attribute of the message, as in SQS; repeatable", collect)
    .option("--group <group>", "message group; a message of a FIFO queue needs one")
    .addHelpText(
      "after",
      examples(
        `sluice messages send orders --body '{"item": "lamp"}'`,
        "sluice messages send orders --body hello --content-type text --delay-secs 60",
        "jq -n '{item: \"lamp\"}' | sluice messages send orders --file -",
        "sluice messages send uploads --event r2:object-create",
      ),
    )
    .action((queue: string, options: Options<SendOptions>) =>
      onBroker(execute, options, async (on) => (await import("./send.ts")).send(on, queue, options)),
    );
  withFilter(withBroker(messages.command("peek")))
    .description("list messages in any state; nothing is leased or counted")
    .argument("<queue>", "name of the queue")
    .option("--limit <number>", "most messages to show (default: 20)", positive)
    .option("--cursor <cursor>", "go on where another list ended")
    .option(
      "--errors",
      "count them by their last errors, those together that differ in numbers and ids alone",
    )
    .addHelpText(
      "after",
      examples(
        "sluice messages peek orders",
        "sluice messages peek orders-dead --errors",
        "sluice messages peek orders --state delayed --limit 100",
        `sluice messages peek orders-dead --filter 'error:"card declined" age:>1h'`,
      ),
    )
    .action((queue: string, options: Options<PeekOptions>) =>
      onBroker(execute, options, async (on) => (await import("./look.ts")).peek(on, queue, options)),
    );
  withBroker(messages.command("find"))
    .description("look for messages in all queues: a text, a field, an id also of a message that is gone")
    .argument("<text>", "what to look for: terms as --filter has them, or an id, its first 4 digits or more")
    .addHelpText(
      "after",
      examples(
        "sluice messages find lamp",
        "sluice messages find orderId:20042",
        "sluice messages find 5f1c52a0",
      ),
    )
    .action((text: string, options: Options) =>
      onBroker(execute, options, async (on) => (await import("./find.ts")).find(on, text)),
    );
  withBroker(messages.command("show"))
    .description("show a message with all of its body")
    .argument("<queue>", "name of the queue; an id without one is looked for in all queues")
    .argument("[id]", "id of the message, its first 8 digits, or its ref")
    .addHelpText(
      "after",
      examples(
        "sluice messages show orders 0123456789abcdef0123456789abcdef",
        "sluice messages show orders 01234567",
        "sluice messages show 01234567",
      ),
    )
    .action((first: string, second: string | undefined, options: Options) =>
      onBroker(execute, options, async (on) => {
        const { show } = await import("./look.ts");
        if (second !== undefined) return show(on, first, second);
        const { queue, id } = await (await import("./where-is.ts")).whereIs(on, first);
        return show(on, queue, id);
      }),
    );
  withBroker(messages.command("why"))
    .description("say why a message is not delivered, or why the queue delivers nothing more")
    .argument("<queue>", "name of the queue")
    .argument("[id]", "id of the message, its first 8 digits, or its ref (default: the queue as a whole)")
    .addHelpText(
      "after",
      examples("sluice messages why orders", "sluice messages why orders 0123456789abcdef0123456789abcdef"),
    )
    .action((queue: string, id: string | undefined, options: Options) =>
      onBroker(execute, options, async (on) => (await import("./look.ts")).why(on, queue, id)),
    );
  withBroker(messages.command("resend"))
    .description("send a copy of a message, changed or not; the message stays")
    .argument("<queue>", "name of the queue")
    .argument("<id>", "id of the message, its first 8 digits, or its ref")
    .option("--to <queue>", "queue that takes the copy (default: the same)")
    .option("--edit", "open the body in an editor first: that of VISUAL or EDITOR")
    .option("--body <text>", "another body")
    .option("--file <path>", "file that holds another body, - for standard input")
    .addOption(new Option("--content-type <type>", "content type of the body").choices(SENT_TYPES))
    .option(
      "--delay-secs <number>",
      "seconds before its delivery, 0 to 86400 (default: the queue's delay)",
      delay,
    )
    .addHelpText(
      "after",
      examples(
        "sluice messages resend orders-dead 0123456789abcdef0123456789abcdef --to orders",
        "sluice messages resend orders-dead 0123456789abcdef0123456789abcdef --to orders --edit",
      ),
    )
    .action((queue: string, id: string, options: Options<ResendOptions>) =>
      onBroker(execute, options, async (on) => (await import("./act.ts")).resend(on, queue, id, options)),
    );
  withMany(withBroker(messages.command("retry")))
    .description("let messages be delivered now: the delay of one, or its lease, ends; of many the delays")
    .addHelpText(
      "after",
      examples(
        "sluice messages retry orders 0123456789abcdef0123456789abcdef",
        "sluice messages retry orders --filter 'error:timeout'",
      ),
    )
    .action((queue: string, ids: string[], options: Options<ManyOptions>) =>
      onBroker(execute, options, async (on) => (await import("./act.ts")).retry(on, queue, ids, options)),
    );
  withMany(withBroker(messages.command("delete")))
    .description("delete messages, leased or not")
    .option("--force", "do it without asking")
    .addHelpText(
      "after",
      examples(
        "sluice messages delete orders 0123456789abcdef0123456789abcdef --force",
        "sluice messages delete orders-dead --filter 'error:\"card declined\" age:>1d' --dry-run",
      ),
    )
    .action((queue: string, ids: string[], options: Options<ManyOptions>) =>
      onBroker(execute, options, async (on) => (await import("./act.ts")).remove(on, queue, ids, options)),
    );
}

const MESSAGES_EXAMPLES = examples(
  `sluice messages send orders --body '{"item": "lamp"}'`,
  "sluice messages peek orders --state delayed",
  "sluice messages why orders",
);

/** Adds the arguments and options of a command that acts on one message or on many. */
function withMany(command: Command): Command {
  return withFilter(command)
    .argument("<queue>", "name of the queue")
    .argument("[id...]", "ids of messages, their first 8 digits, or their refs")
    .option("--limit <number>", "most messages", positive)
    .option("--dry-run", "change nothing; say how many messages that would be, and show the first of them");
}

/** Adds the options that select messages. */
export function withFilter(command: Command): Command {
  return command
    .addOption(new Option("--state <state>", "only messages in this state").choices(STATES))
    .option("--filter <terms>", "messages that fit, as in 'attempts:>2 age:>1h attr.kind:order \"a text\"'");
}
