import type { Random } from "@sluice/harness/random";
import {
  bodyOf,
  LEASE_MS,
  type LedgerQueue,
  type Operation,
  type PowerLedger,
  type SentMessage,
} from "./power-ledger.ts";
import { TracedClient } from "./traced-client.ts";

const AWS = "/__sluice/aws/";
const ACCOUNT = "000000000000";

export const DEAD = "dead";
export const PLAIN = "plain";
export const FEW = "few";
export const ORDERED = "ordered.fifo";
/** Queue that a topic sends to. */
const FANNED = "fanned";
const TOPIC = "news";
/** Receives of a message in `FEW` before it moves to `DEAD`. */
export const RECEIVES_MAX = 2;

const CLIENTS = 4;
/** Share of the first client's requests that are about queues instead of messages. */
const ADMINISTRATION = 0.25;
const BATCH_MAX = 5;
const GROUPS = 3;
/** Messages in the queues at which clients only receive: all of them are read after each cut. */
const WAITING_MAX = 60;
/** Largest body, in bytes: some fill the log, so that it is checkpointed into the file. */
const BODY_MAX = 40_000;
const SHORT_BODY_MAX = 400;
const DELAY_SECONDS = 600;

/** Message that a client has received. */
interface Held {
  readonly message: SentMessage;
  /** Queue that gave it. */
  readonly from: string;
  readonly receipt: string;
}

/** Clients of SQS, SNS and the admin API, over the lives of a broker. */
export class PowerLoad {
  readonly #clients: Client[];
  #lives = 0;

  constructor(ledger: PowerLedger, random: Random) {
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => new Client(ledger, random.fork(), i === 0));
  }

  /**
   * Sends the requests of one life. Resolves when all are answered.
   *
   * @param url origin of the broker.
   * @param requests number of requests of each client.
   */
  async run(url: string, requests: number): Promise<void> {
    this.#lives += 1;
    for (const client of this.#clients) client.connect(new TracedClient(url, this.#lives));
    try {
      if (this.#lives === 1) await this.#clients[0]?.createAll();
      await Promise.all(this.#clients.map((client) => client.work(requests)));
    } finally {
      for (const client of this.#clients) client.close();
    }
  }
}

class Client {
  #traced: TracedClient | null = null;
  readonly #ledger: PowerLedger;
  readonly #random: Random;
  /** Whether it creates, changes and deletes queues as well. */
  readonly #isAdministrator: boolean;
  readonly #held: Held[] = [];
  /** Queues that it has created for itself. */
  readonly #own = new Set<string>();

  constructor(ledger: PowerLedger, random: Random, isAdministrator: boolean) {
    this.#ledger = ledger;
    this.#random = random;
    this.#isAdministrator = isAdministrator;
  }

  connect(traced: TracedClient): void {
    this.#traced = traced;
  }

  close(): void {
    this.#traced?.close();
  }

  get #connected(): TracedClient {
    if (this.#traced === null) throw new Error("the client is not connected");
    return this.#traced;
  }

  async createAll(): Promise<void> {
    await this.#create(DEAD, {});
    await this.#create(PLAIN, {});
    await this.#create(FEW, {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn("sqs", DEAD), maxReceiveCount: RECEIVES_MAX }),
    });
    await this.#create(ORDERED, { FifoQueue: "true" });
    await this.#create(FANNED, {});
    const created = begin();
    await this.#sns(created, { Action: "CreateTopic", Name: TOPIC });
    const subscribed = begin();
    await this.#sns(subscribed, {
      Action: "Subscribe",
      TopicArn: arn("sns", TOPIC),
      Protocol: "sqs",
      Endpoint: arn("sqs", FANNED),
      "Attributes.entry.1.key": "RawMessageDelivery",
      "Attributes.entry.1.value": "true",
    });
    this.#ledger.topics.set(TOPIC, { created, subscribed });
  }

  async work(requests: number): Promise<void> {
    const random = this.#random;
    for (let i = 0; i < requests; i++) {
      if (this.#isAdministrator && random.chance(ADMINISTRATION)) {
        await this.#administer();
        continue;
      }
      const waiting = this.#ledger.messages.filter(({ deletes }) => deletes.length === 0).length;
      const draw = random.fraction();
      if (draw < 0.4 && waiting < WAITING_MAX) await this.#send();
      else if (draw < 0.65) await this.#receive();
      else await this.#settle();
    }
  }

  async #send(): Promise<void> {
    const random = this.#random;
    const queue = random.pick([PLAIN, PLAIN, FEW, ORDERED, FANNED]);
    if (queue === FANNED) {
      const sent = begin();
      const { tag } = this.#ledger.message(queue, null, sent);
      await this.#sns(sent, {
        Action: "Publish",
        TopicArn: arn("sns", TOPIC),
        Message: bodyOf(tag, this.#length()),
      });
      return;
    }
    const sent = begin();
    const count = random.chance(0.3) ? random.between(2, BATCH_MAX) : 1;
    const Entries = Array.from({ length: count }, (_, i) => {
      const group = queue === ORDERED ? `g${random.below(GROUPS)}` : null;
      const { tag } = this.#ledger.message(queue, group, sent);
      const ordered = { MessageGroupId: group, MessageDeduplicationId: `d${tag}` };
      const DelaySeconds = random.chance(0.02) ? DELAY_SECONDS : 0;
      const more = group === null ? { DelaySeconds } : ordered;
      return { Id: `${i}`, MessageBody: bodyOf(tag, this.#length()), ...more };
    });
    if (count > 1) await this.#sqs(sent, "SendMessageBatch", { QueueUrl: urlOf(queue), Entries });
    else await this.#sqs(sent, "SendMessage", { QueueUrl: urlOf(queue), ...Entries[0], Id: undefined });
  }

  #length(): number {
    return this.#random.chance(0.1)
      ? this.#random.between(1, BODY_MAX)
      : this.#random.between(1, SHORT_BODY_MAX);
  }

  async #receive(): Promise<void> {
    const random = this.#random;
    const operation = begin();
    const from = random.pick([PLAIN, FEW, ORDERED, FANNED, DEAD]);
    const answer = await this.#sqs(operation, "ReceiveMessage", {
      QueueUrl: urlOf(from),
      MaxNumberOfMessages: random.between(1, 10),
      VisibilityTimeout: LEASE_MS / 1_000,
    });
    const { Messages = [] } = (answer ?? {}) as { Messages?: { Body: string; ReceiptHandle: string }[] };
    for (const { Body, ReceiptHandle } of Messages) {
      const message = this.#ledger.messageOf(Body);
      message.receives.push(operation);
      this.#held.push({ message, from, receipt: ReceiptHandle });
    }
  }

  /** Deletes or releases messages that this client holds, one or several of a queue. */
  async #settle(): Promise<void> {
    const random = this.#random;
    const [first] = this.#held;
    if (first === undefined) return this.#receive();
    const queue = first.from;
    const same = this.#held.filter(({ from }) => from === queue);
    const taken = same.slice(0, random.between(1, BATCH_MAX));
    for (const held of taken) this.#held.splice(this.#held.indexOf(held), 1);
    const operation = begin();
    const isDeletion = random.chance(0.75);
    for (const { message } of taken) (isDeletion ? message.deletes : message.releases).push(operation);
    const more = isDeletion ? {} : { VisibilityTimeout: 0 };
    const Entries = taken.map(({ receipt }, i) => ({ Id: `${i}`, ReceiptHandle: receipt, ...more }));
    const action = isDeletion ? "DeleteMessage" : "ChangeMessageVisibility";
    if (taken.length > 1) await this.#sqs(operation, `${action}Batch`, { QueueUrl: urlOf(queue), Entries });
    else await this.#sqs(operation, action, { QueueUrl: urlOf(queue), ...Entries[0], Id: undefined });
  }

  /** Creates, changes, pauses or deletes a queue of this client's own. */
  async #administer(): Promise<void> {
    const random = this.#random;
    const queue = [...this.#ledger.queues.values()].find(
      ({ name, deletes }) => this.#own.has(name) && deletes.length === 0,
    );
    if (queue === undefined) {
      const name = `extra-${this.#ledger.queues.size}`;
      this.#own.add(name);
      await this.#create(name, {});
    } else if (random.chance(0.2)) {
      const operation = begin();
      queue.deletes.push(operation);
      await this.#sqs(operation, "DeleteQueue", { QueueUrl: urlOf(queue.name) });
    } else if (random.chance(0.5)) {
      const operation = begin();
      const value = `${random.between(20_000, 1_000_000)}`;
      queue.retentions.push({ value, operation });
      await this.#sqs(operation, "SetQueueAttributes", {
        QueueUrl: urlOf(queue.name),
        Attributes: { MessageRetentionPeriod: value },
      });
    } else {
      const operation = begin();
      const value = random.chance(0.5);
      queue.pauses.push({ value, operation });
      await this.#ask(operation, `/__sluice/api/queues/${queue.name}/${value ? "pause" : "resume"}`, {}, "");
    }
  }

  async #create(name: string, attributes: Readonly<Record<string, string>>): Promise<void> {
    const created = begin();
    const queue: LedgerQueue = { name, created, deletes: [], retentions: [], pauses: [] };
    this.#ledger.queues.set(name, queue);
    const value = `${this.#random.between(20_000, 1_000_000)}`;
    queue.retentions.push({ value, operation: created });
    await this.#sqs(created, "CreateQueue", {
      QueueName: name,
      Attributes: { ...attributes, MessageRetentionPeriod: value },
    });
  }

  #sqs(operation: Operation, action: string, input: object): Promise<unknown> {
    const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
    return this.#ask(operation, AWS, headers, JSON.stringify(input));
  }

  async #sns(operation: Operation, input: Readonly<Record<string, string>>): Promise<void> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams({ Version: "2010-03-31", ...input }).toString();
    await this.#ask(operation, AWS, headers, body);
  }

  /** Sends a request and records its success. Anything else is a failure: the broker is not disturbed meanwhile. */
  async #ask(
    operation: Operation,
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<unknown> {
    const { status, body: text, name } = await this.#connected.call("POST", path, headers, body);
    const json = text.startsWith("{") ? JSON.parse(text) : null;
    if (status !== 200 || json?.Failed?.length > 0) {
      this.#ledger.failures.push(
        `${path} ${headers["x-amz-target"] ?? body.slice(0, 60)}: ${status} ${text}`,
      );
      return null;
    }
    operation.answer = name;
    operation.answeredMs = Date.now();
    return json;
  }
}

function begin(): Operation {
  return { begunMs: Date.now(), answer: null, answeredMs: null };
}

function arn(service: "sqs" | "sns", name: string): string {
  return `arn:aws:${service}:us-east-1:${ACCOUNT}:${name}`;
}

function urlOf(queue: string): string {
  return `http://127.0.0.1${AWS}${ACCOUNT}/${queue}`;
}
