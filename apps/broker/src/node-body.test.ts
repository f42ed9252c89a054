import { describe, expect, it } from "vitest";
import { BODY_BYTES_MAX, boundedFetch } from "./node-body.ts";

const URL = "http://localhost/__sluice/aws";

/** A request and how many bytes of it the gateway saw, `null` for none that came there. */
async function fetched(init: RequestInit): Promise<{ status: number; bytes: number | null }> {
  let bytes: number | null = null;
  const fetch = boundedFetch(async (request) => {
    bytes = (await request.arrayBuffer()).byteLength;
    return new Response(null, { status: 204 });
  });
  const { status } = await fetch(new Request(URL, { method: "POST", ...init }));
  return { status, bytes };
}

/** A body in pieces, which says how many of them were read. */
function pieces(sizes: readonly number[]) {
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const size = sizes[read];
        if (size === undefined) return controller.close();
        read += 1;
        controller.enqueue(new Uint8Array(size));
      },
    },
    { highWaterMark: 0 },
  );
  return { init: { body, duplex: "half" } as RequestInit, readCount: () => read };
}

describe("the body of a request to a broker on Node.js", () => {
  it.each([-1, 0, 1])(
    "may have BODY_BYTES_MAX bytes and %i, or not, whether that is said before or found out",
    async (more) => {
      const size = BODY_BYTES_MAX + more;
      const expected = more > 0 ? { status: 413, bytes: null } : { status: 204, bytes: size };
      const body = new Uint8Array(size);
      expect(await fetched({ body, headers: { "content-length": String(size) } })).toEqual(expected);
      expect(await fetched(pieces([1, size - 1]).init)).toEqual(expected);
    },
  );

  it("is not read on once it is too large, and comes through in pieces as it is", async () => {
    const endless = pieces([BODY_BYTES_MAX, 1, 1, 1, 1]);
    expect(await fetched(endless.init)).toEqual({ status: 413, bytes: null });
    expect(endless.readCount()).toBe(2);
    expect(await fetched(pieces([3, 4, 5]).init)).toEqual({ status: 204, bytes: 12 });
    expect(await fetched({ method: "GET" })).toEqual({ status: 204, bytes: 0 });
  });
});
