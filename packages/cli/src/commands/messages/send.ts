import { sendMessage } from "../../client/messages.ts";
import { queueNamed } from "../../client/queues.ts";
import { CliError, EXIT_USAGE } from "../../errors.ts";
import { answer, type OnBroker } from "../on-broker.ts";
import { type BodyOptions, bytesOf, textIn } from "./body.ts";

export interface SendOptions extends BodyOptions {
  /** Default `json`. */
  readonly contentType?: "json" | "text";
  readonly delaySecs?: number;
}

/** `sluice messages send`. */
export async function send(on: OnBroker, queue: string, options: SendOptions): Promise<number> {
  const bytes = await bytesOf(options, on.surroundings);
  if (bytes === null) {
    throw new CliError(
      "Say what to send: --body TEXT, --file PATH, or --file - for standard input.",
      EXIT_USAGE,
    );
  }
  const { contentType = "json", delaySecs } = options;
  const message = { contentType, text: textIn(bytes, contentType), delaySeconds: delaySecs ?? null };
  const { id } = await queueNamed(on.client, queue);
  await sendMessage(on.client, id, message);
  answer(on, { queue, sent: 1 }, { words: `Sent a message to ${queue}.` });
  return 0;
}
