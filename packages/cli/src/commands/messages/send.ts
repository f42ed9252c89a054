import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { isFifoName } from "@sluice/protocol";
import { samplesOfEvents, sendBatch } from "../../client/messages.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type BodyOptions, bodyIn, bytesOf, type SentType } from "./body.ts";

export interface SendOptions extends BodyOptions {
  /** Default: `json`. */
  readonly contentType?: SentType;
  /** Name of a sample of an event, which becomes the body. */
  readonly event?: string;
  readonly delaySecs?: number;
  /** `NAME=VALUE`, each an attribute of type String as in SQS. */
  readonly attribute?: readonly string[];
  /** Message group of a FIFO queue. */
  readonly group?: string;
}

/** `sluice messages send`: sends a message whose body is stored byte for byte. */
export async function send(on: OnBroker, queue: string, options: SendOptions): Promise<number> {
  const given = await bytesOf(options, on.surroundings);
  if (given !== null && options.event !== undefined) {
    throw new CliError("Either --event, or --body or --file.", EXIT_USAGE);
  }
  const bytes = options.event === undefined ? given : await sampleOf(on, options.event);
  if (bytes === null) {
    throw new CliError(
      "Say what to send: --body TEXT, --file PATH, --file - for standard input, or --event NAME.",
      EXIT_USAGE,
    );
  }
  const { contentType = "json", delaySecs, attribute = [], group } = options;
  if (isFifoName(queue) && group === undefined) {
    throw new CliError(`${queue} is a FIFO queue: --group NAME names the message's group.`, EXIT_USAGE);
  }
  const message = {
    contentType,
    ...bodyIn(bytes, contentType),
    attributes: attributesOf(attribute),
    ...(delaySecs === undefined ? {} : { delaySeconds: delaySecs }),
    ...(group === undefined ? {} : { group }),
  };
  const [id = ""] = await sendBatch(on.client, queue, [message]);
  answer(on, { queue, id }, { words: `Sent ${id} to ${queue}.` });
  return 0;
}

/** Reads a sample of an event. Throws a `CliError` with `EXIT_USAGE` that lists all names, for an unknown one. */
async function sampleOf({ client }: OnBroker, event: string): Promise<Uint8Array> {
  const samples = await samplesOfEvents(client);
  const found = samples.find(({ name }) => name === event);
  if (found === undefined) {
    const names = samples.map(({ name }) => `  ${name}`).join("\n");
    throw new CliError(`There is no sample of an event "${event}". There are:\n${names}`, EXIT_USAGE);
  }
  return new TextEncoder().encode(JSON.stringify(found.body));
}

function attributesOf(texts: readonly string[]) {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at <= 0) throw new CliError(`--attribute ${text}: an attribute is written NAME=VALUE.`, EXIT_USAGE);
      return [text.slice(0, at), { type: "String", value: text.slice(at + 1) }];
    }),
  );
}
