import { createHash } from "node:crypto";
import type { Target } from "./target.ts";

/** A queue that no generated request knows of: what is sent to it has to come out again. */
export const BOOKS = "the-books";

/** A request that must succeed, whatever was asked before. */
async function ask(target: Target, action: string, input: object): Promise<Record<string, unknown>> {
  const answer = await target.fetch(
    new Request(`${target.endpoint}/`, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    }),
  );
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${action} has to succeed and is answered with ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Keeps the books of messages that were sent in the midst of everything else. */
export class Books {
  readonly #target: Target;
  readonly #url: string;
  readonly #acknowledged = new Set<string>();
  #sent = 0;

  constructor(target: Target) {
    this.#target = target;
    this.#url = `${target.endpoint}/000000000000/${BOOKS}`;
  }

  /** Opens the books; creates the queues that requests are about as well. */
  async open(queues: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
    const kept = { MessageRetentionPeriod: "1209600" };
    for (const [QueueName, Attributes] of Object.entries({ ...queues, [BOOKS]: kept })) {
      // What an earlier run has left is in the way.
      const QueueUrl = `${this.#target.endpoint}/000000000000/${QueueName}`;
      const { QueueUrls = [] } = await ask(this.#target, "ListQueues", { QueueNamePrefix: QueueName });
      if ((QueueUrls as string[]).includes(QueueUrl)) await ask(this.#target, "DeleteQueue", { QueueUrl });
      await ask(this.#target, "CreateQueue", { QueueName, Attributes });
    }
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  /** Sends a message that has to be taken. */
  async send(): Promise<void> {
    this.#sent += 1;
    const MessageBody = `message ${this.#sent}`;
    const sent = await ask(this.#target, "SendMessage", { QueueUrl: this.#url, MessageBody });
    if (sent.MD5OfMessageBody !== md5(MessageBody))
      throw new Error(`the digest of "${MessageBody}" is wrong`);
    this.#acknowledged.add(MessageBody);
  }

  /** Receives everything, once each. Throws when anything is missing, twice there or was never sent. */
  async close(): Promise<void> {
    const missing = new Set(this.#acknowledged);
    while (missing.size > 0) {
      const input = {
        QueueUrl: this.#url,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 5,
        VisibilityTimeout: 43_200,
      };
      const { Messages: messages = [] } = await ask(this.#target, "ReceiveMessage", input);
      const received = messages as { readonly Body: string; readonly ReceiptHandle: string }[];
      if (received.length === 0)
        throw new Error(`${missing.size} acknowledged messages are lost: ${[...missing].slice(0, 5)}`);
      for (const { Body } of received) {
        if (!missing.delete(Body)) throw new Error(`"${Body}" is there twice or was never sent`);
      }
      const Entries = received.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
      await ask(this.#target, "DeleteMessageBatch", { QueueUrl: this.#url, Entries });
    }
    this.#acknowledged.clear();
  }
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
