import {
  type DeleteOutcome,
  type EnqueuedMessage,
  type MessageExtension,
  PackedIndex,
  packMessages,
  type QueueDefinition,
  type ReceivedMessage,
  type ReceiveReply,
  type ReceiveRequest,
  receivedMessage,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { testId } from "./messages.ts";
import { World } from "./world.ts";

/** A message as a receiver sees it. */
export interface Seen extends ReceivedMessage {
  readonly id: string;
  readonly body: string;
  readonly timestampMs: number;
  readonly extension: MessageExtension;
}

export interface ToSend extends MessageExtension {
  /** Another one each time by default. */
  readonly id?: string;
  readonly body: string;
  readonly delaySeconds?: number;
}

/** Messages "group-name" as a FIFO queue takes them; without "-" they have no group. */
export function named(...names: string[]): ToSend[] {
  return names.map((body) => {
    const [groupId, rest] = body.split("-");
    return rest === undefined || groupId === undefined ? { body } : { body, groupId };
  });
}

export function packToSend(messages: readonly ToSend[]): Uint8Array<ArrayBuffer> {
  return packMessages(
    messages.map(({ id = testId(), body, delaySeconds, ...extension }) => ({
      id,
      contentType: "text",
      body: new TextEncoder().encode(body),
      extension,
      ...(delaySeconds === undefined ? {} : { delaySeconds }),
    })),
  );
}

export function seenIn(reply: ReceiveReply): Seen[] {
  if (reply.kind !== "received") return [];
  const index = new PackedIndex(reply.packed);
  return reply.receipts.map((_, i) => {
    const { id, body, timestampMs } = index.message(i);
    return {
      ...receivedMessage(reply, i),
      id,
      body: new TextDecoder().decode(body),
      timestampMs,
      extension: index.extension(i),
    };
  });
}

/** A `World` for those who receive and delete. Queues have no consumer; those called `*.fifo` are FIFO queues. */
export class SqsWorld extends World {
  constructor(queues: Record<string, Partial<QueueDefinition>>) {
    super(
      Object.fromEntries(
        Object.entries(queues).map(([name, changes]) => [
          name,
          {
            receive: {},
            ...(name.endsWith(".fifo") ? { fifo: { deduplicationScope: "queue" as const } } : {}),
            ...changes,
          },
        ]),
      ),
    );
  }

  async enqueue(queue: string, ...messages: (ToSend | string)[]): Promise<readonly EnqueuedMessage[]> {
    const all = messages.flatMap((message) => (typeof message === "string" ? named(message) : [message]));
    const packed = packToSend(all);
    const { enqueued: reply } = await this.core(queue).work({ enqueue: { packed } });
    if (reply?.ok !== true) throw new Error(JSON.stringify(reply));
    const index = new PackedIndex(packed);
    const stored = (_: unknown, i: number) => ({
      messageId: index.id(i),
      sequenceNumber: null,
      duplicate: false,
    });
    return reply.messages ?? all.map(stored);
  }

  ask(queue: string, request: Partial<ReceiveRequest> = {}): Promise<ReceiveReply> {
    return this.core(queue).receivers.receive({ max: 10, ...request });
  }

  async receive(queue: string, request: Partial<ReceiveRequest> = {}): Promise<Seen[]> {
    return seenIn(await this.ask(queue, request));
  }

  /** Bodies of what a short poll gets. */
  async bodies(queue: string, request: Partial<ReceiveRequest> = {}): Promise<string[]> {
    return (await this.receive(queue, request)).map(({ body }) => body);
  }

  release(queue: string, ...messages: readonly Seen[]): Promise<number> {
    return this.core(queue).release(messages.map(({ receipt }) => receipt));
  }

  async delete(queue: string, ...messages: readonly Seen[]): Promise<readonly DeleteOutcome[]> {
    const { removed = [] } = await this.core(queue).work({ remove: messages.map(({ receipt }) => receipt) });
    return removed;
  }

  async setVisibility(queue: string, message: Seen, visibilityTimeoutMs: number): Promise<VisibilityOutcome> {
    const change = { receipt: message.receipt, visibilityTimeoutMs };
    const { changed: [outcome] = [] } = await this.core(queue).work({ change: [change] });
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  }
}

/** The only one. */
export function only<Value>(values: readonly Value[]): Value {
  const [value, ...others] = values;
  if (value === undefined || others.length > 0) throw new Error(`${values.length} instead of one`);
  return value;
}
