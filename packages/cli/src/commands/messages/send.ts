import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { sendBatch } from "../../client/messages.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type BodyOptions, bodyIn, bytesOf, type SentType } from "./body.ts";

export interface SendOptions extends BodyOptions {
  /** Default: `json`. */
  readonly contentType?: SentType;
  readonly delaySecs?: number;
  /** `NAME=VALUE`, each an attribute of type String as in SQS. */
  readonly attribute?: readonly string[];
  /** Message group of a FIFO queue. */
  readonly group?: string;
}

/** `sluice messages send`: sends a message whose body is stored byte for byte. */
export async function send(on: OnBroker, queue: string, options: SendOptions): Promise<number> {
  const bytes = await bytesOf(options, on.surroundings);
  if (bytes === null) {
    throw new CliError(
      "Say what to send: --body TEXT, --file PATH, or --file - for standard input.",
      EXIT_USAGE,
    );
  }
  const { contentType = "json", delaySecs, attribute = [], group } = options;
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

function attributesOf(texts: readonly string[]) {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at <= 0) throw new CliError(`--attribute ${text}: an attribute is written NAME=VALUE.`, EXIT_USAGE);
      return [text.slice(0, at), { type: "String", value: text.slice(at + 1) }];
    }),
  );
}
