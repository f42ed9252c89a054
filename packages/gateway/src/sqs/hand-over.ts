/**
 * How often something is written to the client before its answer, and the pause after each, in ms. workerd learns that a
 * client has closed its connection only from what happens to bytes that it writes; where another proxy is in between (as in
 * `wrangler dev`) the first write tells the proxy, and a later one workerd. Two of them 4 ms apart were too few for 10 of 40
 * clients that had gone, on a busy machine; three of them 6 ms apart for 1 of 120.
 */
export const LOOKS = 3;
export const LOOK_MS = 6;
/** A pause that takes longer, in ms, does not count: what is late here is late in the proxy too. */
export const LOOK_MS_MAX = 9;
/** How often it is looked at most, however late everything is. */
export const LOOKS_MAX = 40;

const DECLARATION = /^<\?xml[^>]*\?>/;

/**
 * The body of an answer that begins with what changes nothing about it: a client that has gone makes itself known by it, the
 * request's signal is aborted, and the rest is not written.
 *
 * @param signal aborted when the client has gone.
 */
export function lookingBody(
  text: string,
  signal: AbortSignal,
): { readonly body: ReadableStream<Uint8Array>; readonly written: Promise<void> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const write = async () => {
    // White space may stand before JSON, and in XML behind the declaration.
    const declaration = DECLARATION.exec(text)?.[0] ?? "";
    if (declaration !== "") await writer.write(encoder.encode(declaration));
    for (let looks = 0, inTime = 0; inTime < LOOKS && looks < LOOKS_MAX; looks++) {
      const sinceMs = Date.now();
      await writer.write(encoder.encode("\n"));
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (signal.aborted) return writer.abort(signal.reason);
      if (Date.now() - sinceMs <= LOOK_MS_MAX) inTime += 1;
    }
    await writer.write(encoder.encode(text.slice(declaration.length)));
    await writer.close();
  };
  // A client that goes while it is written to is told of by the signal.
  return { body: readable, written: write().catch(() => {}) };
}
