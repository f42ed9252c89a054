import type { Socket } from "node:net";
import type { FramedAnswer } from "@sluice/protocol";
import type { FrameLink } from "./frame-link.ts";
import { type Wire, wireOf } from "./plain-answer.ts";
import {
  bodyStart,
  bodyText,
  FRAMED_BYTES_MAX,
  FRAMED_HEADERS_LENGTH_MAX,
  type PlainHead,
  readHead,
} from "./plain-post.ts";

/** Bytes of later requests that are kept while one is being answered: with more the connection is not read. */
const AHEAD_BYTES_MAX = FRAMED_BYTES_MAX + FRAMED_HEADERS_LENGTH_MAX;

export interface PlainConnectionPorts {
  readonly link: FrameLink;
  /** Whether a request goes in a frame, by its head. */
  isFramed(head: PlainHead): boolean;
  /** How long a connection is kept for the next request, in ms; `null` once no more are wanted. */
  readonly keepAliveMs: number | null;
  /** Takes a connection over, of which these bytes are still to be read. */
  others(socket: Socket, bytes: Buffer): void;
  /** A request was begun, and it was answered or its client has gone. */
  began(): void;
  ended(): void;
  closed(connection: PlainConnection): void;
}

/**
 * A connection whose requests are read here as long as they are plain: one after the other, POST, of known length, nothing but
 * ASCII in the head. With anything else it goes to `node:http` for good. Measured with 50 senders of SQS, a small request costs 59,000
 * instructions less than with `node:http`.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #ports: PlainConnectionPorts;
  /** The head that came last. */
  #head: PlainHead | null = null;
  /** What came of a request that is not all here, or before the one before it was answered. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  /** Bytes that the request which is coming in has: it is not looked at with fewer. */
  #wantedBytes = 0;
  /** The request that is being answered. */
  #underWay: number | null = null;
  /** Looks since the latest answer, or since the request that is coming in began. */
  #looks = 0;

  constructor(socket: Socket, ports: PlainConnectionPorts) {
    this.#socket = socket;
    this.#ports = ports;
    socket
      .on("data", this.#onData)
      .on("end", this.#onEnd)
      .on("error", this.#onError)
      .on("close", this.#onClose);
  }

  /** To be called at intervals. Calls since the latest answer, or since the request that is coming in began; 0 while one is answered. */
  look(): number {
    this.#looks = this.#underWay === null ? this.#looks + 1 : 0;
    return this.#looks;
  }

  /** Whether a request has begun to come in, and is not all here. */
  get isReading(): boolean {
    return this.#underWay === null && this.#keptBytes > 0;
  }

  /** Lets `node:http` wait for what is missing of a request: it knows how long. */
  giveUp(): void {
    if (this.isReading && this.#socket.writable) this.#handOn(this.#takeKept());
  }

  /** Ends it unless a request is being answered, or is coming in: that is to be waited for by `node:http`. */
  stop(): void {
    if (this.isReading) this.giveUp();
    else if (this.#underWay === null) this.end();
  }

  /** Ends it when everything is written. */
  end(): void {
    this.#socket.destroySoon();
  }

  /** Resolves when everything is written to a connection that was ended, or cannot be any more. */
  flushed(): Promise<void> {
    return new Promise((resolve) => this.#socket.end(() => resolve()));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    // Its last answer is being written: `Connection: close`.
    if (!this.#socket.writable) return;
    const isWaited = this.#underWay !== null;
    if (this.#keptBytes === 0 && !isWaited) {
      this.#looks = 0;
      this.#read(chunk);
      return;
    }
    this.#keep(chunk);
    if (isWaited) {
      if (this.#keptBytes > AHEAD_BYTES_MAX) this.#socket.pause();
    } else if (this.#keptBytes >= this.#wantedBytes) this.#read(this.#takeKept());
  };

  /** As `node:http` has it: who has ended its side wants no answer any more. */
  readonly #onEnd = (): void => {
    this.#clientHasGone();
    this.#socket.end();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#clientHasGone();
    this.#ports.closed(this);
  };

  #clientHasGone(): void {
    if (this.#underWay === null) return;
    this.#ports.link.gone(this.#underWay);
    this.#underWay = null;
    this.#ports.ended();
  }

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.byteLength;
  }

  #takeKept(): Buffer {
    const bytes = Buffer.concat(this.#kept);
    this.#kept = [];
    this.#keptBytes = 0;
    return bytes;
  }

  #read(bytes: Buffer): void {
    const head = readHead(bytes, this.#head);
    if (head === null || (head !== this.#head && !this.#ports.isFramed(head))) {
      this.#handOn(bytes);
      return;
    }
    this.#head = head;
    const start = bodyStart(head);
    const end = start + head.bodyBytes;
    if (bytes.byteLength < end) {
      this.#wantedBytes = end;
      this.#keep(bytes);
      return;
    }
    // Who sends the next request before the answer has several under way at a time: they go in one frame from `node:http`.
    const text = bytes.byteLength > end ? null : bodyText(bytes.subarray(start, end));
    if (text === null) this.#handOn(bytes);
    else this.#submit(head, text);
  }

  #submit({ url, headers }: PlainHead, body: string): void {
    const { link, began } = this.#ports;
    began();
    const request = { method: "POST", url, headers, body };
    const id = link.submit(request, (answer) => this.#answered(id, answer));
    this.#underWay = id;
  }

  #answered(id: number, answer: FramedAnswer | null): void {
    if (this.#underWay !== id) return;
    if (answer === null) this.#socket.destroy();
    else if (!answer.isWatched) this.#write(answer);
    else {
      // What has come in with the answer is seen first. The ends of connections are among it if the machine is busy.
      setImmediate(() => {
        if (this.#underWay === id && !this.#socket.destroyed) this.#write(answer);
      });
    }
  }

  #write(answer: FramedAnswer): void {
    const { keepAliveMs, ended } = this.#ports;
    const wire = this.#wireOf(answer, keepAliveMs);
    if (wire === null) return;
    this.#underWay = null;
    this.#looks = 0;
    if (answer.isWatched) this.#writeWatched(wire, answer.id);
    else this.#socket.write(wire.text, wire.encoding);
    ended();
    if (keepAliveMs === null) this.end();
    else if (this.#keptBytes > 0) this.#readKept();
  }

  /** Says what became of the answer. It may be written after later ones were begun, and after the connection was handed on. */
  #writeWatched({ text, encoding }: Wire, id: number): void {
    const { link } = this.#ports;
    this.#socket.write(text, encoding, (error) => {
      if (error) link.gone(id);
      else link.written(id);
    });
  }

  #readKept(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#read(this.#takeKept());
  }

  /** `null` for an answer that cannot be written: its connection is closed, and the broker told that its client has gone. */
  #wireOf(answer: FramedAnswer, keepAliveMs: number | null): Wire | null {
    try {
      return wireOf(answer, keepAliveMs);
    } catch {
      this.#socket.destroy();
      return null;
    }
  }

  #handOn(bytes: Buffer): void {
    const socket = this.#socket;
    socket
      .off("data", this.#onData)
      .off("end", this.#onEnd)
      .off("error", this.#onError)
      .off("close", this.#onClose);
    this.#ports.closed(this);
    this.#ports.others(socket, bytes);
  }
}
