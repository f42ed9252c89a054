import { Buffer } from "node:buffer";
import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { BackupMessage } from "@sluice/gateway/views";
import { CliError, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { RECEIVE_MESSAGES_MAX } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { type Backlog, idOf, type Source, type SourceQueue, type Taken } from "../message.ts";
import { callSqs, identityOf, placeOf, urlOf } from "./client.ts";
import {
  deadLetterNameIn,
  deadLetterNameOf,
  linesOf,
  notCopiedOf,
  queueOf,
  type SqsAttributes,
  sqsAttributesOf,
  tagsOf,
} from "./settings.ts";

/** Seconds that a receive waits for messages. A waiting receive reads all of SQS's servers; a short one ends soon. */
const WAIT_SECONDS = 2;

/** Opens a queue of SQS. Throws `CliError` where there is none. */
export async function openSqsSource(client: SQSClient, name: string, leaseMs: number): Promise<Source> {
  const url = await urlOf(client, "source", name);
  if (url !== null) return new SqsSource(client, name, url, leaseMs);
  throw new CliError(`SQS has no queue "${name}" in ${await client.config.region()}.`, EXIT_NOT_FOUND);
}

/** A queue of SQS whose messages are received. */
class SqsSource implements Source {
  readonly #client: SQSClient;
  readonly #name: string;
  readonly #url: string;
  readonly #leaseMs: number;

  constructor(client: SQSClient, name: string, url: string, leaseMs: number) {
    this.#client = client;
    this.#name = name;
    this.#url = url;
    this.#leaseMs = leaseMs;
  }

  async describe(): Promise<SourceQueue> {
    const attributes = await this.#attributes();
    const { Tags = {} } = await callSqs("source", () =>
      this.#client.send(new ListQueueTagsCommand({ QueueUrl: this.#url })),
    );
    const dead = deadLetterNameIn(attributes);
    return {
      place: placeOf(this.#client, attributes.QueueArn ?? this.#url),
      identity: identityOf(this.#client, "source", attributes),
      queue: queueOf(this.#name, attributes, Tags),
      linesOf: (queue) => linesOf(sqsAttributesOf(queue, deadLetterNameOf(queue)), tagsOf(queue)),
      notCopied: notCopiedOf(attributes),
      notes: [
        "Other consumers go on meanwhile, and what they receive is theirs.",
        ...(dead === null
          ? []
          : [
              `The messages in its dead-letter queue stay: sluice adopt ${dead.name} --from sqs.`,
              `Receives of the bridge count: a message that it receives ${plural(dead.maxReceiveCount, "time")} and does not delete, as after a kill, goes there.`,
            ]),
      ],
      steps: [],
      refusal: null,
      backlog: backlogIn(attributes),
    };
  }

  async open(): Promise<void> {}

  async take(): Promise<Taken[]> {
    const leasedUntilMs = Date.now() + this.#leaseMs;
    const { Messages = [] } = await callSqs("source", () =>
      this.#client.send(
        new ReceiveMessageCommand({
          QueueUrl: this.#url,
          MaxNumberOfMessages: RECEIVE_MESSAGES_MAX,
          VisibilityTimeout: this.#leaseMs / 1_000,
          WaitTimeSeconds: WAIT_SECONDS,
          MessageSystemAttributeNames: ["All"],
          MessageAttributeNames: ["All"],
        }),
      ),
    );
    return Messages.map((message) => ({
      handle: message.ReceiptHandle ?? "",
      id: idOf(message.MessageId ?? ""),
      message: foreignOf(message),
      leasedUntilMs,
    }));
  }

  async remove(handles: readonly string[]): Promise<ReadonlySet<string>> {
    const Entries = handles.map((ReceiptHandle, i) => ({ Id: `${i}`, ReceiptHandle }));
    const { Successful = [] } = await callSqs("source", () =>
      this.#client.send(new DeleteMessageBatchCommand({ QueueUrl: this.#url, Entries })),
    );
    return new Set(Successful.flatMap(({ Id }) => handles[Number(Id)] ?? []));
  }

  async backlog(): Promise<Backlog> {
    return backlogIn(await this.#attributes());
  }

  async close(): Promise<void> {}

  async #attributes(): Promise<SqsAttributes> {
    const command = new GetQueueAttributesCommand({ QueueUrl: this.#url, AttributeNames: ["All"] });
    const { Attributes = {} } = await callSqs("source", () => this.#client.send(command));
    return Attributes;
  }
}

function backlogIn(attributes: SqsAttributes): Backlog {
  const count = (name: string) => (attributes[name] === undefined ? null : Number(attributes[name]));
  return {
    waiting: count("ApproximateNumberOfMessages"),
    inFlight: count("ApproximateNumberOfMessagesNotVisible"),
    delayed: count("ApproximateNumberOfMessagesDelayed"),
  };
}

/** Reads a received message. */
export function foreignOf({
  MessageId = "",
  Body = "",
  Attributes = {},
  MessageAttributes = {},
}: Message): BackupMessage {
  const { SentTimestamp, MessageGroupId: group, MessageDeduplicationId: deduplicationId } = Attributes;
  const attributes = Object.fromEntries(
    Object.entries(MessageAttributes).map(([name, { DataType = "String", StringValue, BinaryValue }]) => {
      const value =
        BinaryValue === undefined ? (StringValue ?? "") : Buffer.from(BinaryValue).toString("base64");
      return [name, { type: DataType, value }];
    }),
  );
  return {
    id: idOf(MessageId),
    sentAt: new Date(Number(SentTimestamp ?? Date.now())).toISOString(),
    attempts: 0,
    delaySeconds: 0,
    contentType: "text",
    text: Body,
    ...(group === undefined ? {} : { group }),
    ...(deduplicationId === undefined ? {} : { deduplicationId }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  };
}
