import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueueTagsCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import type { MessagePage } from "../src/client/messages.ts";
import { BrokerLab, type Said } from "./broker-lab.ts";
import { type Fault, FlakyProxy } from "./flaky-proxy.ts";

/*
 * A broker, and a second one in the place of the other system: it has Cloudflare's API and SQS. A proxy before each of
 * them can make requests fail.
 */

export const ACCOUNT = "0123456789abcdef0123456789abcdef";
export const LEASE = ["--lease-secs", "4"];

/** Consumer of the queues on the other system. */
const WORKER = {
  type: "worker",
  script_name: "mailer",
  dead_letter_queue: "mails-dead",
  settings: { batch_size: 7, max_retries: 2, max_wait_time_ms: 3_000, max_concurrency: 4, retry_delay: 9 },
};

interface Consumer {
  readonly type: string;
  readonly script?: string;
  readonly settings: object;
  readonly dead_letter_queue: string;
}

/** Two brokers for the tests of a file, the other one in the place of Cloudflare and of SQS. */
export class BridgeLab {
  readonly lab = new BrokerLab();
  readonly other = new BrokerLab();
  url = "";
  otherUrl = "";
  #proxies: [FlakyProxy, FlakyProxy] | null = null;
  #queues = 0;

  /** Starts them before the tests of this file, and ends them afterwards. */
  constructor() {
    beforeAll(async () => {
      [this.url, this.otherUrl] = await Promise.all([this.lab.serve(), this.other.serve()]);
      this.#proxies = await Promise.all([FlakyProxy.start(this.url), FlakyProxy.start(this.otherUrl)]);
      // The client of AWS reads the environment of the process.
      for (const [name, value] of Object.entries(this.awsEnv)) vi.stubEnv(name, value);
    });
    afterEach(() => {
      for (const proxy of this.#proxies ?? []) proxy.faultOf = () => null;
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      for (const proxy of this.#proxies ?? []) await proxy[Symbol.asyncDispose]();
      await Promise.all([this.lab.close(), this.other.close()]);
    });
  }

  /** Proxy before the broker. */
  get proxy(): FlakyProxy {
    if (this.#proxies === null) throw new Error("it is not started");
    return this.#proxies[0];
  }

  /** Proxy before the other system. */
  get otherProxy(): FlakyProxy {
    if (this.#proxies === null) throw new Error("it is not started");
    return this.#proxies[1];
  }

  get awsEnv(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL: this.otherProxy.url,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
    };
  }

  get cloudflareEnv(): Record<string, string> {
    return {
      CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
      CLOUDFLARE_API_TOKEN: "token",
      CLOUDFLARE_API_BASE_URL: `${this.otherProxy.url}/__sluice/client/v4`,
    };
  }

  /** SQS of the other system, without the proxy. */
  get sqs(): SQSClient {
    return new SQSClient({ endpoint: this.otherUrl });
  }

  /** SQS of the broker, without the proxy. */
  get sqsHere(): SQSClient {
    return new SQSClient({ endpoint: this.url });
  }

  /** Runs a command line in this process. Removes lines about the progress from its output. */
  async run(args: readonly string[], types?: string): Promise<Said> {
    const situation = { env: this.cloudflareEnv, ...(types === undefined ? {} : { types }) };
    const said = await this.lab.run([...args, "--url", this.proxy.url], situation);
    return {
      ...said,
      err: said.err.replace(/^(Nothing more comes\. |Moved \d+ messages of about ).*\n/gm, ""),
    };
  }

  /** Runs a command line in a process of its own. */
  spawn(args: readonly string[]) {
    return this.lab.spawn([...args, "--url", this.proxy.url], { ...this.cloudflareEnv, ...this.awsEnv });
  }

  /** Has each request fail once, on both sides. */
  failEachOnce(fault: Fault): void {
    this.proxy.failEachOnce(fault);
    this.otherProxy.failEachOnce(fault);
  }

  /** Kinds of requests that came only once: they were not retried after they had failed. */
  get untried(): string[] {
    const seen = [...this.proxy.seen, ...this.otherProxy.seen];
    return seen.filter(([, count]) => count === 1).map(([kind]) => kind);
  }

  newName(suffix = ""): string {
    return `t${++this.#queues}${suffix}`;
  }

  async cloudflare<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.otherUrl}/__sluice/client/v4/accounts/${ACCOUNT}/queues${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    return ((await response.json()) as { result: T }).result;
  }

  async consumersOf(id: string): Promise<Consumer[]> {
    const { consumers } = await this.cloudflare<{ consumers: Consumer[] }>(`/${id}`);
    return consumers.map(({ type, script, settings, dead_letter_queue }) => ({
      type,
      ...(script === undefined ? {} : { script }),
      settings,
      dead_letter_queue,
    }));
  }

  /** A queue of Cloudflare with a Worker for its consumer, and messages in it. */
  async cloudflareQueue(messages: number) {
    const name = this.newName();
    const settings = { delivery_delay: 0, message_retention_period: 7_200 };
    const { queue_id: id } = await this.cloudflare<{ queue_id: string }>("", { queue_name: name, settings });
    await this.cloudflare(`/${id}/consumers`, WORKER);
    for (let from = 0; from < messages; from += 100) {
      const numbers = upTo(Math.min(100, messages - from)).map((n) => from + n);
      await this.cloudflare(`/${id}/messages/batch`, { messages: numbers.map((n) => ({ body: { n } })) });
    }
    return { name, id };
  }

  /** A standard queue of SQS with messages in it. */
  async sqsQueue(messages: number, Attributes: Record<string, string> = {}) {
    const name = this.newName();
    const { QueueUrl = "" } = await this.sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    for (let from = 0; from < messages; from += 10) {
      const numbers = upTo(Math.min(10, messages - from)).map((n) => from + n);
      const Entries = numbers.map((n) => ({ Id: `${n}`, MessageBody: `${n}` }));
      await this.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
    return { name, QueueUrl };
  }

  /** Messages of a queue, in order. */
  async held(queue: string, lab = this.lab) {
    return (await lab.json<MessagePage>(["messages", "peek", queue, "--limit", "1000"])).messages;
  }

  /** Counts the messages of a queue; 0 for a queue that does not exist yet. */
  async count(queue: string): Promise<number> {
    return (await this.held(queue).catch(() => [])).length;
  }
}

/** Reads the attributes and tags of a queue of SQS, without counts and times. */
export async function sqsSettings(client: SQSClient, QueueName: string) {
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName }));
  const [{ Attributes = {} }, { Tags = {} }] = await Promise.all([
    client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] })),
    client.send(new ListQueueTagsCommand({ QueueUrl })),
  ]);
  const own = /^(Approximate|Created|LastModified)/;
  return [Object.fromEntries(Object.entries(Attributes).filter(([name]) => !own.test(name))), Tags];
}

export const numbersIn = (messages: readonly { text: string | null }[]) =>
  messages.map(({ text }) => Number(text?.replace(/\D/g, "")));
export const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
export const ascending = (numbers: number[]) => numbers.toSorted((a, b) => a - b);
