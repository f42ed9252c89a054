import type { IncomingMessage } from "node:http";
import { contentLength } from "./body-reader.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const END_BYTES = HEAD_END.byteLength;
const NOTHING = Buffer.alloc(0);
/** Most bytes of chunk frames, and behind a chunked body, with which a connection is kept. */
const LEFT_BYTES_MAX = 1_024;

/** The parser behind a gate, and its connection. */
export interface Gated {
  /** Parses bytes. `isReady` is called again before each call, since any bytes may complete a request. */
  parse(bytes: Buffer): void;
  /** Whether bytes may be parsed now. `node:http` breaks if it gets bytes while it has paused the connection. */
  isReady(): boolean;
  /** Called when a head has more than `HEAD_BYTES_MAX` bytes. The gate lets nothing through any more. */
  tooLong(): void;
}

/**
 * Stands between a connection and the parser of `node:http`: lets requests through one by one, and holds bytes back
 * while the parser is not ready. Without it `node:http` begins all requests of one chunk, 2,000 of them in 64 KiB,
 * however few answers their client takes. Tests of `bounded-server.test.ts` need it: "is not read on, however much it
 * sends", and "is not the wish for another protocol: it is answered as if there was none".
 */
export class HeadGate {
  readonly #gated: Gated;
  /** Bytes that are held back. */
  #waiting: Buffer = NOTHING;
  /** Last bytes of an unfinished head, in which its `HEAD_END` may begin. Empty between heads. */
  #tail: Buffer = NOTHING;
  #headBytes = 0;
  /** The request that is being read. */
  #request: IncomingMessage | undefined;
  /** Missing bytes of the current body; infinite for a chunked one. */
  #bodyBytes = 0;
  #isClosed = false;

  constructor(gated: Gated) {
    this.#gated = gated;
  }

  /** Length of the last head, in bytes. */
  get headBytes(): number {
    return this.#headBytes;
  }

  came(chunk: Buffer): void {
    this.#waiting = this.#waiting.byteLength === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    this.goOn();
  }

  /** Lets held bytes through until the parser is not ready. */
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

  /** To be called when the parser has read a head. */
  began(request: IncomingMessage): void {
    this.#request = request;
    this.#bodyBytes = contentLength(request) ?? Number.POSITIVE_INFINITY;
  }

  /**
   * To be called when a request has arrived completely; the next one may have begun.
   *
   * @returns whether the connection may be kept.
   */
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
    // An empty subarray would keep the whole buffer in memory.
    this.#waiting = length === this.#waiting.byteLength ? NOTHING : this.#waiting.subarray(length);
    return bytes;
  }

  /** Lets the held part of a head through, and nothing behind its end. */
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

  /** Returns where the head ends in the held bytes; `null` if its end has not arrived. */
  #headEnd(): number | null {
    if (this.#tail.byteLength > 0) {
      const cut = Buffer.concat([this.#tail, this.#waiting.subarray(0, END_BYTES - 1)]).indexOf(HEAD_END);
      if (cut !== -1) return cut + END_BYTES - this.#tail.byteLength;
    }
    const at = this.#waiting.indexOf(HEAD_END);
    return at === -1 ? null : at + END_BYTES;
  }
}

/** Copies the last bytes, in which the end of a head may begin. */
function lastBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-(END_BYTES - 1)));
}
