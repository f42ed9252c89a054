/// <reference path="../../../producer/queue-types.d.ts" />
import {
  type Fetch as BrokerFetch,
  type BrokerRequest,
  callBroker,
  errorIn,
} from "@sluice/local/broker/call-broker";
import { type ProducerBroker, QueueProducer } from "@sluice/producer";
import { type PostReply, QUEUE_ERROR_CODES } from "@sluice/protocol";
import type {
  LogReply,
  LogRequest,
  PlanRequest,
  PostRequest,
  RunReply,
  RunRequest,
  ShowRequest,
} from "../wire.ts";
import { TEST_PATH, toBase64 } from "../wire.ts";
import { UnansweredError } from "./errors.ts";

/** A message in a list of the admin API. */
interface ListedMessage {
  readonly id: string;
  readonly state: "ready" | "delayed" | "leased";
  readonly attempts: number;
  readonly dueAt: string | null;
}

/** A pulled message in Cloudflare's API. */
interface PulledView {
  readonly id: string;
  readonly attempts: number;
  readonly lease_id: string;
}

const API = "/__sluice/client/v4/accounts/local/queues";
/** Most messages in one page of a list. */
const PAGE = 100;
/** Messages after which no further page is read. */
const LISTED_MAX = 1_000;

/** @param waitMs how long the broker was asked to wait before it answers, in ms; not counted as a broker that hangs. */
type TimedFetch = (url: string, init: Parameters<BrokerFetch>[1], waitMs: number) => Promise<Response>;

/** HTTP client of the test kit for the broker. */
export class BrokerCalls {
  readonly #url: string;
  readonly #fetch: TimedFetch;
  readonly #queueIds = new Map<string, string>();

  /** @param url URL of the broker, without a slash at its end. */
  constructor(url: string, fetch: TimedFetch) {
    this.#url = url;
    this.#fetch = fetch;
  }

  /** Returns the URL of a queue for SQS's clients. */
  sqsUrl(queue: string): URL {
    return new URL(`${this.#url}/__sluice/aws/000000000000/${encodeURIComponent(queue)}`);
  }

  run(request: RunRequest): Promise<RunReply> {
    return this.#post(`${TEST_PATH}/run`, request);
  }

  log(request: LogRequest): Promise<LogReply> {
    return this.#post(`${TEST_PATH}/log`, request, request.waitMs);
  }

  /** Returns the broker as a `QueueProducer` calls it. */
  producerBroker(): ProducerBroker {
    return {
      post: async (queue, requests, producer) => {
        const sent = requests.map(({ packed, ...rest }) => {
          return { ...rest, packed: toBase64(packed) };
        });
        const request: PostRequest = {
          queue,
          requests: sent,
          ...(producer === undefined ? {} : { producer }),
        };
        try {
          return (await this.#post<{ reply: PostReply }>(`${TEST_PATH}/post`, request)).reply;
        } catch (error) {
          if (!(error instanceof UnansweredError)) throw error;
          // Returned rather than thrown: a `QueueProducer` replaces the message of a thrown error.
          return { ok: false, code: QUEUE_ERROR_CODES.unknownInternalError, cause: error.message };
        }
      },
      metrics: (queue) => this.#post(`${TEST_PATH}/metrics`, { queue }),
    };
  }

  /** Replaces the faults of deliveries and clears the log; returns the number of its last entry so far. */
  plan(request: PlanRequest): Promise<{ readonly last: number }> {
    return this.#post(`${TEST_PATH}/plan`, request);
  }

  /** Shows from now on what Workers print, or not. */
  async show(request: ShowRequest): Promise<void> {
    await this.#post(`${TEST_PATH}/show`, request);
  }

  /** Lists the messages of a queue in every state. */
  async messages(queue: string): Promise<ListedMessage[]> {
    const found: ListedMessage[] = [];
    const first = `/__sluice/api/queues/${encodeURIComponent(queue)}/messages?max=${PAGE}`;
    for (let path: string | null = first; path !== null && found.length < LISTED_MAX; ) {
      const page: { messages: ListedMessage[]; cursor: string | null } = await this.#call({ path });
      found.push(...page.messages);
      path = page.cursor === null ? null : `${first}&cursor=${encodeURIComponent(page.cursor)}`;
    }
    return found;
  }

  async pull(queue: string, request: object): Promise<readonly PulledView[]> {
    const path = `${API}/${await this.#idOf(queue)}/messages/pull`;
    const { result } = await this.#post<{ result: { messages: PulledView[] } }>(path, request);
    return result.messages;
  }

  async settle(queue: string, request: object): Promise<void> {
    await this.#post(`${API}/${await this.#idOf(queue)}/messages/ack`, request);
  }

  /** Forgets the ids of queues: `reset` gives them other ids. */
  forgetQueueIds(): void {
    this.#queueIds.clear();
  }

  async #idOf(queue: string): Promise<string> {
    const known = this.#queueIds.get(queue);
    if (known !== undefined) return known;
    const path = `${API}?name=${encodeURIComponent(queue)}`;
    const { result } = await this.#call<{ result: { queue_id: string; queue_name: string }[] }>({ path });
    const found = result.find(({ queue_name: name }) => name === queue);
    if (found === undefined) throw new Error(`there is no queue "${queue}"`);
    this.#queueIds.set(queue, found.queue_id);
    return found.queue_id;
  }

  #post<Reply>(path: string, body: object, waitMs?: number): Promise<Reply> {
    return this.#call({ method: "POST", path, body }, waitMs);
  }

  async #call<Reply>(request: BrokerRequest, waitMs = 0): Promise<Reply> {
    const response = await callBroker(this.#url, request, (url, init) => this.#fetch(url, init, waitMs));
    const text = await response.text();
    if (!response.ok) throw new Error(messageIn(text) ?? `${request.path}: ${response.status} ${text}`);
    return JSON.parse(text) as Reply;
  }
}

/** Makes a function that creates producers for a broker's queues. */
export function producersOn(calls: BrokerCalls) {
  return (queue: string, deliveryDelaySeconds?: number, worker?: string): QueueProducer =>
    new QueueProducer({
      queue,
      deliveryDelaySeconds,
      worker,
      broker: () => calls.producerBroker(),
      exposeErrorCodes: true,
      defaultContentType: "json",
    });
}

/** Reads the error message from an answer; `null` if it has none. */
function messageIn(text: string): string | null {
  try {
    const { message } = errorIn(JSON.parse(text));
    return typeof message === "string" ? message : null;
  } catch {
    return null;
  }
}
