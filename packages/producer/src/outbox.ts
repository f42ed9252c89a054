import { PackedWriter, type SendReply, type SendRequest } from "@sluice/protocol";
import { takeMessageIds } from "./message-ids.ts";
import type { OutgoingMessage } from "./outgoing.ts";

/** A call that holds this many bytes takes no more sends. RPC takes 32 MiB, but a broker holds many calls at a time. */
export const CALL_BYTES_FULL = 1_000_000;

/** Sends that will share one call. */
interface Call {
  /** Where each request starts in the packed bytes, and its delay. */
  readonly requests: { readonly from: number; readonly delaySeconds: number | undefined }[];
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
   * Packs messages and sends them soon. The bodies are copied before this returns.
   *
   * @param delaySeconds delay of those that name none; `undefined` is the queue's.
   * @returns the broker's reply to the call they went out with.
   */
  add(messages: readonly OutgoingMessage[], delaySeconds: number | undefined): Promise<SendReply> {
    if (this.#writer.byteLength >= CALL_BYTES_FULL) this.#flush();
    const call = this.#open ?? this.#openCall();
    if (call.requests.at(-1)?.delaySeconds !== delaySeconds || call.requests.length === 0) {
      call.requests.push({ from: this.#writer.byteLength, delaySeconds });
    }
    this.#writer.appendAll(messages, takeMessageIds(messages.length));
    return call.reply.promise;
  }

  #openCall(): Call {
    const call: Call = { requests: [], reply: Promise.withResolvers() };
    this.#open = call;
    this.#flushWhenQuiet(call);
    return call;
  }

  /** Microtasks run in the order they were queued: when one has passed without a send, those that were due are in. */
  #flushWhenQuiet(call: Call): void {
    const seenBytes = this.#writer.byteLength;
    // Not by `queueMicrotask`, which goes through the runtime's C++ and back: 5 µs in workerd.
    void Promise.resolve().then(() => {
      if (this.#open !== call) return;
      if (this.#writer.byteLength === seenBytes) this.#flush();
      else this.#flushWhenQuiet(call);
    });
  }

  #flush(): void {
    const call = this.#open;
    if (call === undefined) return;
    const requests = call.requests.map(({ from, delaySeconds }, i): SendRequest => {
      const packed = this.#writer.slice(from, call.requests[i + 1]?.from ?? this.#writer.byteLength);
      return delaySeconds === undefined ? { packed } : { packed, delaySeconds };
    });
    this.#writer.clear();
    this.#open = undefined;
    call.reply.resolve(this.#dispatch(requests));
  }
}
