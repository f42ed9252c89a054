import type { Gateway } from "@sluice/gateway";
import { bodyBytesMax, type RequestHead, type Unread, unreadRefusal } from "@sluice/gateway/request-limits";

/** Largest body of known length that is passed on as it comes, in bytes. */
export const PLAIN_BYTES_MAX = 65_536;
/**
 * Most bytes that an isolate reads at a time of longer bodies, and of bodies in chunks: it has 128 MB on Cloudflare.
 */
export const UNREAD_BYTES_MAX = 33_554_432;
/** Time limit for such a body, in ms. */
const BODY_MS_MAX = 60_000;

/** Limits of `boundedFetch`; all have defaults. */
export interface BodyLimits {
  readonly unreadBytesMax?: number;
  readonly bodyMsMax?: number;
}

/**
 * Makes the gateway's `fetch` on workerd, where no server has checked requests before. It refuses a body longer than
 * its dialect allows, before it is read or as soon as the length is known, and limits the bytes in memory. On plain
 * Node.js the listening server does so.
 *
 * A short body is read to its end, whatever the answer is.
 */
export function boundedFetch(
  { fetch, asksForSignatures }: Pick<Gateway, "fetch" | "asksForSignatures">,
  limits: BodyLimits = {},
): Gateway["fetch"] {
  const { unreadBytesMax = UNREAD_BYTES_MAX, bodyMsMax = BODY_MS_MAX } = limits;
  let unreadBytes = 0;
  return async (request, ...others) => {
    if (request.body === null) return fetch(request, ...others);
    const head = headOf(request);
    const length = request.headers.get("content-length");
    const bytesMax = bodyBytesMax(head, asksForSignatures);
    if (Number(length ?? 0) > bytesMax) return refused(head, "tooLarge", bytesMax);
    if (length !== null && Number(length) <= PLAIN_BYTES_MAX) {
      const response = await fetch(request, ...others);
      // A short body that is left unread breaks a connection of Wrangler's proxy, which other requests share.
      if (!request.bodyUsed) await readBody(request.body, () => null, bodyMsMax).catch(() => {});
      return response;
    }
    let ownBytes = 0;
    const take = (bytes: number): Unread | null => {
      if (ownBytes + bytes > bytesMax) return "tooLarge";
      if (unreadBytes + bytes > unreadBytesMax) return "busy";
      ownBytes += bytes;
      unreadBytes += bytes;
      return null;
    };
    try {
      const body = await readBody(request.body, take, bodyMsMax);
      if (typeof body === "string") return refused(head, body, bytesMax);
      const { url, method, headers, signal } = request;
      return await fetch(new Request(url, { method, headers, signal, body }), ...others);
    } finally {
      unreadBytes -= ownBytes;
    }
  };
}

/** Reads a body, or returns the reason why it is not read to its end. */
async function readBody(
  stream: ReadableStream<Uint8Array>,
  take: (bytes: number) => Unread | null,
  msMax: number,
): Promise<Unread | Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(late.resolve, msMax, "late");
  const chunks: Uint8Array[] = [];
  try {
    for (;;) {
      const read = await Promise.race([reader.read(), late.promise]);
      const why = read === "late" ? read : read.done ? null : take(read.value.byteLength);
      if (why !== null) {
        // A failure of the rest does not matter.
        reader.cancel().catch(() => {});
        return why;
      }
      if (read === "late" || read.done) break;
      chunks.push(read.value);
    }
  } finally {
    clearTimeout(timer);
  }
  const body = new Uint8Array(chunks.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

function headOf({ method, url, headers }: Request): RequestHead {
  const { pathname, search } = new URL(url);
  return { method, pathname, search, headers };
}

function refused(head: RequestHead, why: Unread, bytesMax: number): Response {
  const { status, headers, body } = unreadRefusal(head, why, bytesMax);
  return new Response(body, { status, headers });
}
