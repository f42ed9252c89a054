import type { IncomingMessage } from "node:http";
import type { Unread } from "@sluice/gateway/request-limits";
import { CHUNK_BYTES_MIN, CHUNKS_MAX } from "./limits.ts";

/** Size of the blocks that collect bytes which come in pieces, in bytes. */
const BLOCK_BYTES = 65_536;

/** Bytes that come in pieces. Each piece by itself would cost a hundred times its size where it is a single byte. */
class Bytes {
  readonly #expected: number;
  #blocks: Buffer[] = [];
  #length = 0;

  /** @param expected number of bytes that will come: no block is larger than what is missing. Default: not known. */
  constructor(expected: number = Number.POSITIVE_INFINITY) {
    this.#expected = expected;
  }

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.byteLength) {
      const at = this.#length % BLOCK_BYTES;
      if (at === 0) {
        this.#blocks.push(Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.#expected - this.#length)));
      }
      const block = this.#blocks.at(-1) as Buffer; // there is one now
      const copied = chunk.copy(block, at, from);
      from += copied;
      this.#length += copied;
    }
  }

  /** All of them; none are left. */
  take(): Buffer {
    const bytes = Buffer.concat(this.#blocks, this.#length);
    this.drop();
    return bytes;
  }

  /** Nobody wants them. */
  drop(): void {
    this.#blocks = [];
    this.#length = 0;
  }
}

/** Bytes of a body as the request says them; `null` for one in chunks. */
export function contentLength({ headers }: IncomingMessage): number | null {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined) return null;
  return length === undefined ? 0 : Number(length);
}

/** A body that is being read. */
export interface BodyReading {
  /** Reads no more, and keeps nothing of it. */
  stop(): void;
}

/**
 * Reads the body of a request. One in chunks is not read on once it has more bytes than it may, or too many small
 * chunks; one of known length has no more.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  done: (body: Buffer) => void,
  refuse: (why: Extract<Unread, "tooLarge" | "fragmented">) => void,
): BodyReading {
  const length = contentLength(request);
  const isChunked = length === null;
  const bytes = new Bytes(length ?? undefined);
  let chunks = 0;
  const take = (chunk: Buffer) => {
    chunks += 1;
    const taken = bytes.length + chunk.byteLength;
    if (taken > bytesMax) refuse("tooLarge");
    else if (isChunked && chunks > CHUNKS_MAX && taken < chunks * CHUNK_BYTES_MIN) refuse("fragmented");
    else bytes.add(chunk);
  };
  const end = () => {
    request.off("close", stop);
    done(bytes.take());
  };
  const stop = () => {
    request.off("data", take).off("end", end);
    bytes.drop();
  };
  request.on("data", take).once("end", end).once("close", stop);
  return { stop };
}
