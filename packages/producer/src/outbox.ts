import { PackedWriter, RECORD_HEADER_BYTES, type SendReply, type SendRequest } from "@sluice/protocol";
import { MESSAGE_IDS_MAX, takeMessageIds } from "./message-ids.ts";
import type { OutgoingMessage } from "./outgoing.ts";

/** A call that holds this many bytes takes no more sends. RPC takes 32 MiB, but a broker holds many calls at a time. */
export const CALL_BYTES_FULL = 1_000_000;

/** Messages that are packed at a time: as many as ids are drawn for. Text of all of them is encoded in one call. */
const PACKED_TOGETHER_MAX = MESSAGE_IDS_MAX;

/** Neighbours among the messages of a call that share one request, since their sends name the same delay. */
interface Parcel {
  readonly messages: OutgoingMessage[];
  readonly delaySeconds: number | undefined;
}

/** Sends that will share one call. */
interface Call {
  readonly parcels: Parcel[];
  /** At least one for each message: of text the number of its units. */
  bytes: number;
  readonly reply: PromiseWithResolvers<SendReply>;
}

/**
 * Lets concurrent sends of a request share one call to the broker: 500 of them cost one RPC and one commit.
 *
 * What is added within one microtask checkpoint goes out together at its end, and a lone send with it at once. A
 * checkpoint belongs to one request; what requests share among each other is not decided here (`SharedSends`).
 */
export class Outbox {
  readonly #dispatch: (requests: readonly SendRequest[]) => Promise<SendReply>;
  readonly #writer = new PackedWriter();
  #open: Call | undefined;

  /** @param dispatch makes the call; it must not reject. */
  constructor(dispatch: (requests: readonly SendRequest[]) => Promise<SendReply>) {
    this.#dispatch = dispatch;
  }

  /**
   * Sends messages soon. Bytes that belong to the sender are copied before this returns.
   *
   * @param delaySeconds delay of those that name none; `undefined` is the queue's.
   * @returns the broker's reply to the call they went out with.
   */
  add(messages: readonly OutgoingMessage[], delaySeconds: number | undefined): Promise<SendReply> {
    if (this.#open !== undefined && this.#open.bytes >= CALL_BYTES_FULL) this.#flush();
    const call = this.#open ?? this.#openCall();
    let parcel = call.parcels.at(-1);
    if (parcel === undefined || parcel.delaySeconds !== delaySeconds) {
      parcel = { messages: [], delaySeconds };
      call.parcels.push(parcel);
    }
    for (const message of messages) {
      parcel.messages.push(owned(message));
      call.bytes += RECORD_HEADER_BYTES + message.body.length;
    }
    return call.reply.promise;
  }

  #openCall(): Call {
    const call: Call = { parcels: [], bytes: 0, reply: Promise.withResolvers() };
    this.#open = call;
    this.#flushWhenQuiet(call);
    return call;
  }

  /** Microtasks run in the order they were queued: when one has passed without a send, those that were due are in. */
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
      const requests = call.parcels.map(({ messages, delaySeconds }): SendRequest => {
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

/** The same with a body that the sender cannot change any more. */
function owned(message: OutgoingMessage): OutgoingMessage {
  const { contentType, body } = message;
  return contentType === "bytes" && typeof body !== "string" ? { ...message, body: body.slice() } : message;
}
