import { createHash } from "node:crypto";
import { Ledger, type Sent } from "@sluice/harness/ledger";
import type { Target } from "./target.ts";

/** Name of a queue that no generated request names: every message that is sent to it has to come out again. */
const KEPT = "the-books";

const KEPT_BYTES = 20;

/** Sends a request that must succeed, whatever requests came before. */
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

interface Kept extends Sent {
  isReceived: boolean;
}

/** Messages that are sent between the generated requests. Each must be received once. */
export class KeptMessages extends Ledger<Kept> {
  readonly #target: Target;
  readonly #url: string;

  constructor(target: Target) {
    super();
    this.#target = target;
    this.#url = `${target.endpoint}/000000000000/${KEPT}`;
  }

  /** Creates their queue, and the queues of the requests. */
  async open(queues: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
    const kept = { MessageRetentionPeriod: "1209600" };
    for (const [QueueName, Attributes] of Object.entries({ ...queues, [KEPT]: kept })) {
      // Messages of an earlier run would be in the way.
      const QueueUrl = `${this.#target.endpoint}/000000000000/${QueueName}`;
      const { QueueUrls = [] } = await ask(this.#target, "ListQueues", { QueueNamePrefix: QueueName });
      if ((QueueUrls as string[]).includes(QueueUrl)) await ask(this.#target, "DeleteQueue", { QueueUrl });
      await ask(this.#target, "CreateQueue", { QueueName, Attributes });
    }
  }

  /** Sends a message, which must succeed. */
  async send(): Promise<void> {
    const message = { tag: this.messages.length, queue: KEPT, bytes: KEPT_BYTES } as const;
    const sent = this.add({ ...message, outcome: "unknown", isReceived: false });
    const input = { QueueUrl: this.#url, MessageBody: sent.body };
    const { MD5OfMessageBody } = await ask(this.#target, "SendMessage", input);
    if (MD5OfMessageBody !== md5(sent.body)) throw new Error(`the digest of "${sent.body}" is wrong`);
    this.acknowledged(sent.message);
  }

  /** Receives all messages. Resolves to their number; throws if one is missing, comes twice or was never sent. */
  async close(): Promise<number> {
    while (this.owed > 0) {
      const input = {
        QueueUrl: this.#url,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 5,
        VisibilityTimeout: 43_200,
      };
      const { Messages: messages = [] } = await ask(this.#target, "ReceiveMessage", input);
      const received = messages as { readonly Body: string; readonly ReceiptHandle: string }[];
      if (received.length === 0) throw new Error(`${this.owed} acknowledged messages are lost`);
      for (const { Body } of received) this.#received(Body);
      const [violation] = this.violationTexts;
      if (violation !== undefined) throw new Error(violation);
      const Entries = received.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
      await ask(this.#target, "DeleteMessageBatch", { QueueUrl: this.#url, Entries });
    }
    return this.tally().acknowledged;
  }

  protected override isDone({ isReceived }: Kept): boolean {
    return isReceived;
  }

  protected override hasCome({ isReceived }: Kept): boolean {
    return isReceived;
  }

  #received(body: string): void {
    const message = this.identify(KEPT, body);
    if (message === null) return;
    if (message.isReceived) this.violation(`message ${message.tag} was received twice`);
    this.change(message, () => {
      message.isReceived = true;
    });
  }
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
