import { decodeAnswers, encodeFrontMessages, type FrontMessage } from "@sluice/protocol";
import { WebSocket } from "ws";
import type { Carrier, CarrierEvents } from "./frame-link.ts";

/** Length from which on a frame takes nothing more along; a frame is at most this and one request long. */
export const FRAME_LENGTH_MAX = 262_144;
/** Pause before a connection that was lost is tried again, in ms. */
const RECONNECT_MS = 250;

export interface SocketCarrierOptions {
  /** Where the broker takes frames, as `ws://…`. */
  readonly url: string;
  readonly token: string;
  /** Told why a connection was lost or could not be made: once, until there is one again. */
  readonly warn: (text: string) => void;
}

/** Brings frames to a broker in workerd: a message of a WebSocket each, several for a large one. */
export class SocketCarrier implements Carrier {
  readonly #options: SocketCarrierOptions;
  readonly #events: CarrierEvents;
  #socket: WebSocket;
  #reconnect: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isLossKnown = false;

  constructor(options: SocketCarrierOptions, events: CarrierEvents) {
    this.#options = options;
    this.#events = events;
    this.#socket = this.#connect();
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  carry(frame: readonly FrontMessage[]): void {
    let first = 0;
    let length = 0;
    for (const [i, message] of frame.entries()) {
      if (message.kind === "request") length += message.request.body.length;
      if (length < FRAME_LENGTH_MAX && i < frame.length - 1) continue;
      this.#socket.send(encodeFrontMessages(frame.slice(first, i + 1)));
      first = i + 1;
      length = 0;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#reconnect);
    this.#socket.terminate();
  }

  #connect(): WebSocket {
    const { url, token } = this.#options;
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    socket.on("message", (data) => this.#events.answered(decodeAnswers(String(data))));
    socket.on("open", () => {
      this.#isLossKnown = false;
    });
    socket.on("error", (error) => this.#warn(error));
    socket.on("close", () => {
      this.#events.lost();
      if (this.#isClosed) return;
      this.#reconnect = setTimeout(() => {
        this.#socket = this.#connect();
      }, RECONNECT_MS);
    });
    return socket;
  }

  #warn({ message }: Error): void {
    if (this.#isLossKnown || this.#isClosed) return;
    this.#isLossKnown = true;
    this.#options.warn(`the connection to the broker failed, so requests go there one by one: ${message}`);
  }
}
