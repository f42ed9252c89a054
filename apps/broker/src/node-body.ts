import type { Gateway } from "@sluice/gateway";

/**
 * Largest body of a request, in bytes: far more than any dialect takes, each of which refuses what is too large for it in its own
 * words. Workers end at the memory that they have; here a body would take that of the broker and of everything else.
 */
export const BODY_BYTES_MAX = 33_554_432;

/** The gateway's `fetch` for requests whose bodies can be of any size. What is larger than `BODY_BYTES_MAX` is not read. */
export function boundedFetch(fetch: Gateway["fetch"]): Gateway["fetch"] {
  return async (request, ...others) => {
    const length = request.headers.get("content-length");
    if (Number(length ?? 0) > BODY_BYTES_MAX) return tooLarge();
    if (length !== null || request.body === null) return fetch(request, ...others);
    // Nobody knows how much it is before it has come.
    const body = await readBody(request.body);
    if (body === null) return tooLarge();
    const { url, method, headers, signal } = request;
    return fetch(new Request(url, { method, headers, signal, body }), ...others);
  };
}

/** `null` for one that is too large: the rest of it is not read. */
async function readBody(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  const body = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

function tooLarge(): Response {
  const text = `The body of a request can have ${BODY_BYTES_MAX} bytes at most.\n`;
  return new Response(text, { status: 413, headers: { connection: "close" } });
}
