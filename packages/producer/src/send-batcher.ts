import { PackedWriter, RECORD_HEADER_BYTES, type SendReply, type SendRequest } from "@sluice/protocol";
import { MESSAGE_IDS_MAX, takeMessageIds } from "./message-ids.ts";
import type { OutgoingMessage } from "./outgoing.ts";

/**
 * A call that holds this many bytes takes no more sends. One RPC takes 32 MiB, but a broker holds many calls at a time.
 */
export const CALL_BYTES_FULL = 1_000_000;

/** Messages that are packed at a time: as many as ids are drawn for. One call encodes the text of all of them. */
const PACKED_TOGETHER_MAX = MESSAGE_IDS_MAX;

/** Messages of neighbouring sends that name the same delay: they become one request of the call. */
interface PendingBatch {
  readonly messages: OutgoingMessage[];
  readonly delaySeconds: number | undefined;
}

/** Sends that will share one call. */
interface Call {
  readonly batches: PendingBatch[];
  /** At least one for each message: of text the number of its units. */
  bytes: number;
  readonly reply: PromiseWithResolvers<SendReply>;
}

/**
 * Lets concurrent sends of a request share one call to the broker: 500 of them cost one RPC and one commit.
 *
 * What is added within one microtask checkpoint goes out together at its end. So a single send leaves at once. A
 * checkpoint belongs to one request; `SharedSends` decides what requests share among each other.
 */
export class SendBatcher {
  readonly #dispatch: (requests: readonly SendRequest[]) => Promise<SendReply>;
  readonly #writer = new PackedWriter();
  #open: Call | undefined;

  /** @param dispatch makes the call; it must not reject. */
  constructor(dispatch: (requests: readonly SendRequest[]) => Promise<SendReply>) {
    this.#dispatch = dispatch;
  }

  /**
   * Sends messages at the end of the microtask checkpoint. Copies bytes that belong to the sender before it returns.
   *
   * @param delaySeconds delay of those that name none; `undefined` is the queue's.
   * @returns the broker's reply to the call that carried them.
   */
  add(messages: readonly OutgoingMessage[], delaySeconds: number | undefined): Promise<SendReply> {
    if (this.#open !== undefined && this.#open.bytes >= CALL_BYTES_FULL) this.#flush();
    const call = this.#open ?? this.#openCall();
    let batch = call.batches.at(-1);
    if (batch === undefined || batch.delaySeconds !== delaySeconds) {
      batch = { messages: [], delaySeconds };
      call.batches.push(batch);
    }
    for (const message of messages) {
      batch.messages.push(owned(message));
      call.bytes += RECORD_HEADER_BYTES + message.body.length;
    }
    return call.reply.promise;
  }

  #openCall(): Call {
    const call: Call = { batches: [], bytes: 0, reply: Promise.withResolvers() };
    this.#open = call;
    this.#flushWhenQuiet(call);
    return call;
  }

  /**
   * Sends the call when a microtask has passed without a send. Microtasks run in the order they were queued, so by then
   * all sends of this checkpoint have been added.
   */
  #flushWhenQuiet(call: Call): void {
    const seenBytes = call.bytes;
    // Not by `queueMicrotask`, which goes through the runtime's C++ and back: 5 µs in workerd.
    void Promise.resolve().then(() => {
      if (this.#open !== call) return;
      if (call.bytes === seenBytes) this.#flush();
      else this.#flushWhenQuiet(call);
    });
  }

  #flush(): void {
    const call = this.#open;
    if (call === undefined) return;
    this.#open = undefined;
    try {
      const requests = call.batches.map(({ messages, delaySeconds }): SendRequest => {
        const packed = this.#pack(messages);
        return delaySeconds === undefined ? { packed } : { packed, delaySeconds };
      });
      call.reply.resolve(this.#dispatch(requests));
    } catch (error) {
      this.#writer.clear();
      call.reply.reject(error);
    }
  }

  #pack(messages: readonly OutgoingMessage[]): Uint8Array<ArrayBuffer> {
    for (let from = 0; from < messages.length; from += PACKED_TOGETHER_MAX) {
      const some = messages.slice(from, from + PACKED_TOGETHER_MAX);
      this.#writer.appendAll(some, takeMessageIds(some.length));
    }
    const packed = this.#writer.slice(0, this.#writer.byteLength);
    this.#writer.clear();
    return packed;
  }
}

/** Copies a body of bytes, which its sender may change. */
function owned(message: OutgoingMessage): OutgoingMessage {
  const { contentType, body } = message;
  return contentType === "bytes" && typeof body !== "string" ? { ...message, body: body.slice() } : message;
}
