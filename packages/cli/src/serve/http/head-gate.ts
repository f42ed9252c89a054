import type { IncomingMessage } from "node:http";
import { Bytes, contentLength } from "./body-reader.ts";
import { HEAD_BYTES_MAX } from "./limits.ts";

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** Bytes of the frames of chunks, and of what comes behind them, that a connection is kept with. */
const LEFT_BYTES_MAX = 1_024;

/**
 * What stands between a connection and the parser of `node:http`: it lets heads through when they are whole.
 *
 * A parser that has half a head keeps it in memory of its own, in pieces as they came. That is given back late and in
 * parts: 60 KB of each of 4,000 connections, 32 MB of them at a time, make the process grow by 240 MB. Kept here they
 * are in blocks that are used again.
 */
export class HeadGate {
  readonly #parse: (bytes: Buffer) => void;
  readonly #tooLong: () => void;
  readonly #held = new Bytes();
  /** The last bytes of what is held: the end of the head may begin in them. */
  #tail: Buffer = NOTHING;
  /** Bytes of the head that came last. */
  #headBytes = 0;
  /** Bytes of a body that are still to come; infinite for one in chunks. */
  #bodyBytes = 0;
  #isClosed = false;

  /** @param tooLong called for a head of more than `HEAD_BYTES_MAX` bytes. Nothing is let through any more. */
  constructor(parse: (bytes: Buffer) => void, tooLong: () => void) {
    this.#parse = parse;
    this.#tooLong = tooLong;
  }

  /** Bytes of the head that came last. */
  get headBytes(): number {
    return this.#headBytes;
  }

  came(chunk: Buffer): void {
    let rest = chunk;
    while (rest.byteLength > 0 && !this.#isClosed) {
      if (this.#bodyBytes > 0) {
        const part = rest.subarray(0, Math.min(rest.byteLength, this.#bodyBytes));
        this.#bodyBytes -= part.byteLength;
        rest = rest.subarray(part.byteLength);
        this.#parse(part);
      } else rest = this.#readHead(rest);
    }
  }

  /** The parser has read a head. */
  began(request: IncomingMessage): void {
    this.#bodyBytes = contentLength(request) ?? Number.POSITIVE_INFINITY;
  }

  /** All of a request is here. Returns whether the connection may be kept. */
  ended(unreadBytes: number): boolean {
    const isChunked = this.#bodyBytes === Number.POSITIVE_INFINITY;
    this.#bodyBytes = 0;
    return !isChunked || unreadBytes <= LEFT_BYTES_MAX;
  }

  /** Lets nothing through any more. */
  close(): void {
    this.#isClosed = true;
    this.#held.drop();
  }

  /** Returns what is behind the head. */
  #readHead(bytes: Buffer): Buffer {
    const isFirst = this.#held.length === 0;
    const joined = isFirst ? bytes : Buffer.concat([this.#tail, bytes]);
    const at = joined.indexOf(HEAD_END);
    const end =
      at === -1 ? bytes.byteLength : at + HEAD_END.byteLength - (joined.byteLength - bytes.byteLength);
    const length = this.#held.length + end;
    if (length > HEAD_BYTES_MAX) {
      this.close();
      this.#tooLong();
      return NOTHING;
    }
    if (at === -1) {
      this.#hold(bytes, isFirst);
      this.#tail = Buffer.from(joined.subarray(-(HEAD_END.byteLength - 1)));
      return NOTHING;
    }
    this.#headBytes = length;
    // The parser has the first byte already.
    if (!isFirst) this.#parse(this.#held.take().subarray(1));
    this.#parse(bytes.subarray(0, end));
    return bytes.subarray(end);
  }

  #hold(bytes: Buffer, isFirst: boolean): void {
    this.#held.add(bytes);
    // `node:http` is to know that a head has begun: it ends what takes too long.
    if (isFirst) this.#parse(bytes.subarray(0, 1));
  }
}
