import { Buffer } from "node:buffer";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type MessageAttributeValue,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { BackupQueue, LeasedMessage } from "@sluice/gateway/views";
import { isFifoName, RECEIVE_MESSAGES_MAX } from "@sluice/protocol";
import { differencesOf } from "../plan.ts";
import type { Sent, Target, TargetQueue } from "../target.ts";
import { callSqs, identityOf, placeOf, urlOf } from "./client.ts";
import {
  deadLetterNameOf,
  linesOf,
  notCreatedOf,
  type SqsAttributes,
  sqsAttributesOf,
  tagsOf,
} from "./settings.ts";

/** Most bytes of the messages in a batch, with attributes, within the limit of other servers with SQS's API too. */
const BATCH_BYTES = 250_000;

/** Characters that a body of SQS cannot have (spec sqs 5.6). */
const UNSENDABLE = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/** A queue of SQS to which messages are sent. */
export class SqsTarget implements Target {
  readonly limits = { messages: RECEIVE_MESSAGES_MAX, size: BATCH_BYTES };
  readonly #client: SQSClient;
  readonly #name: string;
  #url = "";

  constructor(client: SQSClient, name: string) {
    this.#client = client;
    this.#name = name;
  }

  async describe(queue: BackupQueue): Promise<TargetQueue> {
    const found = await this.#attributes(this.#name);
    const deadArn = await this.#deadLetterArn(queue);
    const wanted = sqsAttributesOf(queue, deadArn);
    return {
      place: placeOf(this.#client, found?.QueueArn ?? `SQS in ${await this.#client.config.region()}`),
      identity: found === null ? null : identityOf(this.#client, "target", found),
      lines: linesOf(wanted, tagsOf(queue)),
      differences: found === null ? [] : differencesOf(linesOf(wanted, {}), linesOf(found, {})),
      notCopied: notCreatedOf(queue, deadArn),
      notes: [
        isFifoName(queue.name)
          ? "Ids of Sluice are the deduplication ids there, so what comes twice within 5 minutes is recognised."
          : "SQS recognises no message that comes twice: one whose answer is lost, or that this command is killed with, can.",
        "Bytes, V8 and characters that SQS does not take stay.",
      ],
      refusal: null,
    };
  }

  async create(queue: BackupQueue): Promise<void> {
    const found = await urlOf(this.#client, "target", this.#name);
    if (found !== null) {
      this.#url = found;
      return;
    }
    const Attributes = sqsAttributesOf(queue, await this.#deadLetterArn(queue));
    const command = new CreateQueueCommand({ QueueName: this.#name, Attributes, tags: tagsOf(queue) });
    const { QueueUrl = "" } = await callSqs("target", () => this.#client.send(command));
    this.#url = QueueUrl;
  }

  async send(messages: readonly LeasedMessage[]): Promise<readonly Sent[]> {
    const outcomes = messages.map((message): Sent => {
      const left = reasonToStay(message);
      return left === null ? "again" : { left };
    });
    const Entries = messages.flatMap((message, i) =>
      outcomes[i] === "again" ? [entryOf(message, i, this.#name)] : [],
    );
    if (Entries.length === 0) return outcomes;
    const command = new SendMessageBatchCommand({ QueueUrl: this.#url, Entries });
    const { Successful = [], Failed = [] } = await callSqs("target", () => this.#client.send(command));
    for (const { Id } of Successful) outcomes[Number(Id)] = "sent";
    for (const { Id, SenderFault = false, Message = "", Code = "" } of Failed) {
      if (SenderFault) outcomes[Number(Id)] = { left: `SQS refuses them: ${Message || Code}` };
    }
    return outcomes;
  }

  async #deadLetterArn(queue: BackupQueue): Promise<string | null> {
    const name = deadLetterNameOf(queue);
    return name === null ? null : ((await this.#attributes(name))?.QueueArn ?? null);
  }

  async #attributes(name: string): Promise<SqsAttributes | null> {
    const QueueUrl = await urlOf(this.#client, "target", name);
    if (QueueUrl === null) return null;
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    return (await callSqs("target", () => this.#client.send(command))).Attributes ?? {};
  }
}

/** Says why SQS cannot take a message; `null` if it can. */
export function reasonToStay({ contentType, text }: LeasedMessage): string | null {
  if (text === undefined || contentType === "v8" || contentType === "bytes") return "SQS takes text alone";
  if (text === "") return "SQS takes no empty body";
  return UNSENDABLE.test(text) ? "SQS does not take a character in them" : null;
}

function entryOf(
  { id, text, group, attributes = {} }: LeasedMessage,
  i: number,
  queue: string,
): SendMessageBatchRequestEntry {
  const MessageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([name, { type, value }]): [string, MessageAttributeValue] => [
      name,
      type.startsWith("Binary")
        ? { DataType: type, BinaryValue: Buffer.from(value, "base64") }
        : { DataType: type, StringValue: value },
    ]),
  );
  return {
    Id: `${i}`,
    MessageBody: text,
    ...(Object.keys(attributes).length === 0 ? {} : { MessageAttributes }),
    ...(group === undefined ? {} : { MessageGroupId: group }),
    ...(isFifoName(queue) ? { MessageDeduplicationId: id } : {}),
  };
}
