import type { IncomingMessage } from "node:http";
import type { Unread } from "@sluice/gateway/request-limits";
import { CHUNK_BYTES_MIN, CHUNKS_MAX } from "./limits.ts";

/** Size of the blocks that chunks are copied into. */
const BLOCK_BYTES = 65_536;

/** Collects chunks in blocks. A chunk of one byte would cost a hundred times its size as a buffer of its own. */
class Bytes {
  readonly #expected: number;
  #blocks: Buffer[] = [];
  #length = 0;

  /** @param expected number of bytes in all, never exceeded: no block is larger than the rest. Default: not known. */
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

  /** Returns all bytes, and keeps none. */
  take(): Buffer {
    const bytes = Buffer.concat(this.#blocks, this.#length);
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#blocks = [];
    this.#length = 0;
  }
}

/** Returns the length of a body by the request's head, in bytes; `null` for a chunked body. */
export function contentLength({ headers }: IncomingMessage): number | null {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined) return null;
  return length === undefined ? 0 : Number(length);
}

/** A body that is being read. */
export interface BodyReading {
  /** Stops reading, and drops what was read. */
  stop(): void;
}

/**
 * Reads the body of a request. A chunked body is refused once it exceeds `bytesMax` or has too many small chunks
 * (`CHUNKS_MAX`). The caller has checked a known length.
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
