import type { IncomingMessage } from "node:http";
import { Bytes, contentLength } from "./body-reader.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
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
 * Stands between a connection and the parser of `node:http`: lets heads through when they are whole, and holds what
 * comes while the parser is not ready.
 *
 * A parser that has half a head keeps it in memory of its own, in pieces as they came. That is given back late and in
 * parts: 60 KB of each of 4,000 connections, 32 MB of them at a time, make the process grow by 240 MB. Kept here they
 * are in blocks that are used again.
 */
export class HeadGate {
  readonly #gated: Gated;
  /** Bytes that have come and were not looked at. */
  #waiting: Buffer = NOTHING;
  readonly #held = new Bytes();
  /** The last bytes of what is held: the end of the head may begin in them. */
  #tail: Buffer = NOTHING;
  /** Bytes of the head that came last. */
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
    this.#held.drop();
  }

  #takeWaiting(length: number): Buffer {
    const bytes = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return bytes;
  }

  /** Lets a head through if its end has come; else holds what there is of it. */
  #readHead(): void {
    const bytes = this.#waiting;
    const isFirst = this.#held.length === 0;
    const joined = isFirst ? bytes : Buffer.concat([this.#tail, bytes]);
    const at = joined.indexOf(HEAD_END);
    const end =
      at === -1 ? bytes.byteLength : at + HEAD_END.byteLength - (joined.byteLength - bytes.byteLength);
    const length = this.#held.length + end;
    if (length > HEAD_BYTES_MAX) {
      this.close();
      this.#gated.tooLong();
      return;
    }
    const part = this.#takeWaiting(end);
    if (at === -1) {
      this.#hold(part, isFirst);
      this.#tail = Buffer.from(joined.subarray(-(HEAD_END.byteLength - 1)));
      return;
    }
    this.#headBytes = length;
    // The parser has the first byte already.
    this.#gated.parse(isFirst ? part : Buffer.concat([this.#held.take().subarray(1), part]));
  }

  #hold(bytes: Buffer, isFirst: boolean): void {
    this.#held.add(bytes);
    // `node:http` is to know that a head has begun: it ends what takes too long.
    if (isFirst) this.#gated.parse(bytes.subarray(0, 1));
  }
}
