import { HISTORY_KINDS } from "@sluice/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { type Execute, examples, type OnBrokerOptions, onBroker, withBroker } from "../on-broker.ts";

/** Adds `sluice tail`, which shows live events. */
export function addTail(program: Command, execute: Execute): void {
  withBroker(program.command("tail"))
    .description("show what happens to messages, live; --json prints an event a line")
    .argument("[queue]", "in this queue (default: in all)")
    .option("--kind <kinds>", `of these kinds, separated by commas: ${HISTORY_KINDS.join(", ")}`, kindsOf)
    .addHelpText(
      "after",
      examples(
        "sluice tail orders",
        "sluice tail --kind failed,deadLettered",
        "sluice tail --json | jq .error",
      ),
    )
    .action((queue: string | undefined, options: OnBrokerOptions & { kind?: readonly string[] }) =>
      onBroker(execute, options, async (on) =>
        (await import("./tail.ts")).tail(on, { queue: queue ?? null, kinds: options.kind ?? [] }),
      ),
    );
}

/** Adds `sluice messages story` to the commands of messages. */
export function addStory(messages: Command, execute: Execute): void {
  withBroker(messages.command("story"))
    .description(
      "show what happened to a message since its first send, across dead-letter queues and redrives",
    )
    .argument(
      "<queue>",
      "name of the queue that it is or was in; an id without one is looked for in all queues",
    )
    .argument("[id]", "its id in that queue, or the first 8 digits of it")
    .addHelpText("after", examples("sluice messages story orders-dead 5f1c52a0d9b34c1f8a0e6a7712c3d4e5"))
    .action((first: string, second: string | undefined, options: OnBrokerOptions) =>
      onBroker(execute, options, async (on) => {
        const { story } = await import("./story.ts");
        if (second !== undefined) return story(on, first, second);
        const { queue, id } = await (await import("../messages/where-is.ts")).whereIs(on, first, true);
        return story(on, queue, id);
      }),
    );
}

function kindsOf(value: string): string[] {
  const kinds = value.split(",").map((kind) => kind.trim());
  const wrong = kinds.find((kind) => !(HISTORY_KINDS as readonly string[]).includes(kind));
  if (wrong === undefined) return kinds;
  throw new InvalidArgumentError(`There is no kind ${wrong}. There are ${HISTORY_KINDS.join(", ")}.`);
}
