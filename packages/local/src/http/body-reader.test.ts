import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, it, vi } from "vitest";
import { readBody } from "./body-reader.ts";

const BYTES_MAX = 1_000_000;

/** A request with a body that comes in pieces. */
function requestOf(pieces: readonly Buffer[], headers: Record<string, string>): IncomingMessage {
  return Object.assign(Readable.from(pieces, { objectMode: false }), {
    headers,
  }) as unknown as IncomingMessage;
}

const bytesOf = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251));

function piecesOf(body: Buffer, length: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.byteLength / length) }, (_, i) =>
    body.subarray(i * length, (i + 1) * length),
  );
}

async function read(request: IncomingMessage): Promise<Buffer> {
  return await new Promise((done, refuse) => {
    readBody(request, BYTES_MAX, done, (why) => refuse(new Error(why)));
  });
}

it.each([
  [1, 1],
  [300, 300],
  [65_535, 1_000],
  [65_536, 65_536],
  [65_537, 65_536],
  [200_000, 70_001],
])(
  "a body of %i bytes in pieces of %i is read whole, of known length or in chunks",
  async (length, piece) => {
    const body = bytesOf(length);
    for (const headers of [{ "content-length": `${length}` }, { "transfer-encoding": "chunked" }]) {
      expect((await read(requestOf(piecesOf(body, piece), headers))).equals(body)).toBe(true);
    }
  },
);

it("a body of known length takes no more memory than it has bytes", async () => {
  const allocated = vi.spyOn(Buffer, "allocUnsafe");
  await read(requestOf(piecesOf(bytesOf(300), 100), { "content-length": "300" }));
  const sizes = allocated.mock.calls.map(([bytes]) => bytes);
  allocated.mockRestore();
  expect(sizes[0]).toBe(300);
  expect(Math.max(...sizes)).toBe(300);
});
