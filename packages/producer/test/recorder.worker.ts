import { hexOf } from "@sluice/protocol";

/** The service behind the native binding: takes what it sends and answers as production does. */

interface NativeBatch {
  readonly messages: readonly { body: string; contentType?: string; delaySecs?: number }[];
}

const METRICS = { backlogCount: 3, backlogBytes: 40, oldestMessageTimestamp: 1_700_000_000_000 };
let sent: unknown[] = [];
let failure: ResponseInit | undefined;

function message(contentType: string, delaySeconds: number | null, body: Uint8Array) {
  return { contentType, delaySeconds, body: contentType === "v8" ? "" : hexOf(body) };
}

export default {
  async fetch(request: Request): Promise<Response> {
    const delayHeader = request.headers.get("x-msg-delay-secs");
    const delaySeconds = delayHeader === null ? null : Number(delayHeader);
    const { pathname } = new URL(request.url);
    if (pathname === "/fail") {
      failure = await request.json();
      return new Response();
    }
    if (failure !== undefined && pathname !== "/take") {
      // A response to a request that was not read reaches the binding as a lost connection.
      await request.arrayBuffer();
      return new Response(null, failure);
    }
    switch (pathname) {
      case "/take": {
        const taken = sent;
        sent = [];
        return Response.json(taken);
      }
      case "/message": {
        const contentType = request.headers.get("x-msg-fmt") ?? "v8";
        const body = new Uint8Array(await request.arrayBuffer());
        sent.push({ delaySeconds: null, messages: [message(contentType, delaySeconds, body)] });
        return Response.json({ metadata: { metrics: METRICS } });
      }
      case "/batch": {
        const batch: NativeBatch = await request.json();
        const messages = batch.messages.map(({ body, contentType = "v8", delaySecs = null }) =>
          message(
            contentType,
            delaySecs,
            Uint8Array.from(atob(body), (char) => char.charCodeAt(0)),
          ),
        );
        sent.push({ delaySeconds, messages });
        return Response.json({ metadata: { metrics: METRICS } });
      }
      default:
        return Response.json(METRICS);
    }
  },
};
