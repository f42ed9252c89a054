import {
  type BacklogMetrics,
  metricsText,
  type PostReply,
  type SendReply,
  type SendRequest,
  type UnpackedMessage,
  unpackMessages,
} from "@sluice/protocol";
import { type ProducerBroker, QueueProducer, type QueueProducerOptions } from "../src/index.ts";

export const NO_BACKLOG: BacklogMetrics = { backlogCount: 0, backlogBytes: 0, oldestMessageTimestampMs: 0 };

/** A broker that remembers what reached it. */
export class FakeBroker implements ProducerBroker {
  readonly calls: { readonly queue: string; readonly requests: readonly SendRequest[] }[] = [];
  /** Answers a call; may throw, as RPC does when the broker is gone. */
  answer: () => SendReply | Promise<SendReply> = () => ({ ok: true, metrics: NO_BACKLOG });
  backlog: () => BacklogMetrics = () => NO_BACKLOG;

  async post(queue: string, requests: readonly SendRequest[]): Promise<PostReply> {
    this.calls.push({ queue, requests });
    const reply = await this.answer();
    return reply.ok ? metricsText(reply.metrics) : reply;
  }

  async metrics(): Promise<BacklogMetrics> {
    return this.backlog();
  }

  /** Every message of every call, with the delay that its request names. */
  get messages(): (UnpackedMessage & { readonly requestDelaySeconds: number | undefined })[] {
    return this.calls
      .flatMap(({ requests }) => requests)
      .flatMap(({ packed, delaySeconds }) =>
        unpackMessages(packed).map((message) => ({ ...message, requestDelaySeconds: delaySeconds })),
      );
  }

  /** The bodies of every call, as text. */
  get bodies(): string[][] {
    return this.calls.map(({ requests }) =>
      requests.flatMap(({ packed }) =>
        unpackMessages(packed).map(({ body }) => new TextDecoder().decode(body)),
      ),
    );
  }
}

/** A producer for the queue "orders" as today's Workers have it, and what it sends to. */
export function createProducer(options: Partial<QueueProducerOptions> = {}): {
  producer: QueueProducer;
  broker: FakeBroker;
} {
  const broker = new FakeBroker();
  const producer = new QueueProducer({
    queue: "orders",
    broker: () => broker,
    exposeErrorCodes: true,
    defaultContentType: "json",
    ...options,
  });
  return { producer, broker };
}
