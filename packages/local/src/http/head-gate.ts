import type { IncomingMessage } from "node:http";
import { contentLength } from "./body-reader.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const END_BYTES = HEAD_END.byteLength;
const NOTHING = Buffer.alloc(0);
/** Bytes of the frames of chunks, and of what comes behind them, that a connection is kept with. */
const LEFT_BYTES_MAX = 1_024;

/** The parser that a gate stands before, and its connection. */
export interface Gated {
  /** Takes bytes. Called only while `isReady()`, and once each time: any bytes may be the end of a request. */
  parse(bytes: Buffer): void;
  /** Whether bytes may be parsed now. `node:http` fails for good if it gets some while it has paused a connection. */
  isReady(): boolean;
  /** A head has more than `HEAD_BYTES_MAX` bytes. Nothing is let through any more. */
  tooLong(): void;
}

/**
 * Stands between a connection and the parser of `node:http`: lets requests through one by one, and holds what comes
 * while the parser is not ready. By itself `node:http` begins all requests that have come in one piece, 2,000 of them
 * in 64 KiB, however few answers their client takes. Tests of `bounded-server.test.ts` need it: "is not read on,
 * however much it sends", and "is not the wish for another protocol: it is answered as if there was none".
 */
export class HeadGate {
  readonly #gated: Gated;
  /** Bytes that have come and were not let through. */
  #waiting: Buffer = NOTHING;
  /** The last bytes of a head that has begun: its end may begin in them. None between heads. */
  #tail: Buffer = NOTHING;
  #headBytes = 0;
  /** The request that began last, while it is read. */
  #request: IncomingMessage | undefined;
  /** Bytes of a body that are still to come; infinite for one in chunks. */
  #bodyBytes = 0;
  #isClosed = false;

  constructor(gated: Gated) {
    this.#gated = gated;
  }

  /** Bytes of the head that came last. */
  get headBytes(): number {
    return this.#headBytes;
  }

  came(chunk: Buffer): void {
    this.#waiting = this.#waiting.byteLength === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    this.goOn();
  }

  /** Lets through what waits, until the parser is not ready. */
  goOn(): void {
    while (this.#waiting.byteLength > 0 && !this.#isClosed && this.#gated.isReady()) {
      if (this.#bodyBytes === 0) this.#readHead();
      else {
        const part = this.#takeWaiting(Math.min(this.#waiting.byteLength, this.#bodyBytes));
        this.#bodyBytes -= part.byteLength;
        this.#gated.parse(part);
      }
    }
  }

  /** The parser has read a head. */
  began(request: IncomingMessage): void {
    this.#request = request;
    this.#bodyBytes = contentLength(request) ?? Number.POSITIVE_INFINITY;
  }

  /** All of a request is here; the next one may have begun. Returns whether the connection may be kept. */
  ended(request: IncomingMessage, unreadBytes: number): boolean {
    if (request === this.#request) {
      this.#request = undefined;
      this.#bodyBytes = 0;
    }
    const isChunked = contentLength(request) === null;
    return !isChunked || unreadBytes <= LEFT_BYTES_MAX;
  }

  /** Lets nothing through any more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = NOTHING;
  }

  #takeWaiting(length: number): Buffer {
    const bytes = this.#waiting.subarray(0, length);
    // An empty part of it would keep all of it in memory.
    this.#waiting = length === this.#waiting.byteLength ? NOTHING : this.#waiting.subarray(length);
    return bytes;
  }

  /** Lets through what there is of a head, and nothing behind its end. */
  #readHead(): void {
    const isFirst = this.#tail.byteLength === 0;
    const end = this.#headEnd();
    const part = this.#takeWaiting(end ?? this.#waiting.byteLength);
    this.#headBytes = part.byteLength + (isFirst ? 0 : this.#headBytes);
    if (this.#headBytes > HEAD_BYTES_MAX) {
      this.close();
      this.#gated.tooLong();
      return;
    }
    this.#tail = end === null ? lastBytes(Buffer.concat([this.#tail, lastBytes(part)])) : NOTHING;
    this.#gated.parse(part);
  }

  /** Bytes of what waits up to the end of the head; `null` where that is still to come. */
  #headEnd(): number | null {
    if (this.#tail.byteLength > 0) {
      const cut = Buffer.concat([this.#tail, this.#waiting.subarray(0, END_BYTES - 1)]).indexOf(HEAD_END);
      if (cut !== -1) return cut + END_BYTES - this.#tail.byteLength;
    }
    const at = this.#waiting.indexOf(HEAD_END);
    return at === -1 ? null : at + END_BYTES;
  }
}

/** A copy of the last bytes: with the next ones they may be the end of a head. */
function lastBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-(END_BYTES - 1)));
}
