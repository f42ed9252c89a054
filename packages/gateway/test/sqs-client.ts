import { protocolOf } from "@sluice/aws";
import { Waits } from "../src/account/waits.ts";
import { AwsRequest } from "../src/aws/request.ts";
import type { SqsPorts } from "../src/aws/sqs/context.ts";
import { SQS_MODEL } from "../src/aws/sqs/model.ts";
import { type SqsService, sqsService } from "../src/aws/sqs/routes.ts";
import { PublicAddress } from "../src/http/public-address.ts";
import { type AbleQueue, queueWith } from "./directory.ts";
import { memoryAudit } from "./in-memory.ts";
import { KEPT_KEYS, type KeptKeyRights, keptKey, signedByKeptKey } from "./kept-key.ts";
import { MemoryAccount } from "./memory-account.ts";

const NO_MESSAGES = { visible: 0, notVisible: 0, delayed: 0 };

/** Refusal of a call, as a client sees it. */
export interface Refusal {
  readonly status: number;
  /** The older code, which XML and the `x-amzn-query-error` header have. */
  readonly code: string | undefined;
  readonly message: string;
}

export interface SqsClientOptions {
  readonly isStrictAboutTime?: boolean;
  /** Methods of queues' objects. Default: they count no messages, and can be purged. */
  readonly objects?: AbleQueue;
  readonly waits?: Waits;
  /** A key that the broker keeps and that signs each call. Default: none, the broker is open. */
  readonly key?: KeptKeyRights;
}

/** SQS over a directory in memory, called in AWS JSON. */
export class SqsClient {
  readonly account = new MemoryAccount();
  readonly audit = memoryAudit();
  readonly #service: SqsService;
  readonly #isSigned: boolean;

  constructor(options: SqsClientOptions = {}) {
    const { isStrictAboutTime = false, objects = {}, waits = new Waits(), key = null } = options;
    this.#isSigned = key !== null;
    const able = { messageCounts: async () => NO_MESSAGES, purge: async () => ({ purged: 0 }), ...objects };
    const ports: SqsPorts = {
      account: this.account.directory,
      audit: this.audit,
      authority: keptKey(key),
      queue: () => queueWith(able),
      now: () => this.account.nowMs,
      waits,
      isLocal: false,
    };
    const home = { region: "us-east-1", account: "000000000000" };
    this.#service = sqsService(
      "",
      new PublicAddress(null),
      ports,
      { home, isStrictAboutTime },
      key === null ? { kind: "open", pages: () => null } : KEPT_KEYS,
    );
  }

  /** Sends a request, and returns its answer. */
  request(url: string, init?: RequestInit): Promise<Response> {
    return this.fetch(new Request(url, init));
  }

  async fetch(raw: Request): Promise<Response> {
    const request = this.#isSigned
      ? await signedByKeptKey(raw, "sqs", this.account.nowMs)
      : new AwsRequest(raw);
    const answer = await this.#service.answer(request, protocolOf(request, SQS_MODEL), () => {});
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  }

  /** Calls an action, and returns its output. Throws the error that it is refused with. */
  async call(action: string, input: object = {}): Promise<Record<string, unknown>> {
    const { response, body } = await this.#post(action, input);
    if (response.ok) return body;
    throw new Error(`${action} was refused: ${JSON.stringify(body)}`);
  }

  async refusal(action: string, input: object = {}): Promise<Refusal> {
    const { response, body } = await this.#post(action, input);
    const code = response.headers.get("x-amzn-query-error")?.split(";")[0];
    return { status: response.status, code, message: String(body.message) };
  }

  /** The text that a call is refused with. */
  async refusalText(action: string, input: object = {}): Promise<string> {
    return (await this.refusal(action, input)).message;
  }

  /** Creates a queue, answers its URL. */
  async create(QueueName: string, Attributes: Readonly<Record<string, string>> = {}): Promise<string> {
    return String((await this.call("CreateQueue", { QueueName, Attributes })).QueueUrl);
  }

  async attributes(QueueUrl: string, ...AttributeNames: string[]): Promise<Record<string, string>> {
    const names = AttributeNames.length === 0 ? ["All"] : AttributeNames;
    const { Attributes = {} } = await this.call("GetQueueAttributes", { QueueUrl, AttributeNames: names });
    return Attributes as Record<string, string>;
  }

  async #post(action: string, input: object) {
    const response = await this.request("http://localhost/", {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    });
    return { response, body: (await response.json()) as Record<string, unknown> };
  }
}

/** The ARN of a queue of the home region and account. */
export function arnOf(name: string): string {
  return `arn:aws:sqs:us-east-1:000000000000:${name}`;
}
