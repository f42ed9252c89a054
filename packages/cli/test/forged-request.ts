import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** A request with false headers or an unnormalized path, as another machine may send it. */
export interface ForgedRequest {
  /** Address to connect to. */
  readonly address: string;
  readonly port: number | string;
  /** Path in the first line, sent unchanged. */
  readonly path: string;
  /** Default: the `Host` that this machine's own programs send. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body, sent as JSON by POST. Default: none, by GET. */
  readonly body?: unknown;
}

/** Sends the request. An answer that changes the protocol, or none, has status 0 and no text. */
export function forge({ address, port, path, headers = {}, body }: ForgedRequest) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve) => {
    const sent = request({
      host: address,
      port,
      path,
      method: body === undefined ? "GET" : "POST",
      headers: {
        host: `localhost:${port}`,
        connection: "close",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    const none = () => resolve({ status: 0, text: "" });
    sent.on("response", (response: IncomingMessage) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, text: read }), none);
    });
    sent.on("upgrade", (_, socket) => {
      socket.destroy();
      none();
    });
    sent.on("error", none);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const NAMESPACES = "explorer/api/workers/durable_objects/namespaces";

/** Paths of the list of Durable Objects in Wrangler's Local Explorer, as any server may spell it. */
export const EXPLORER_PATHS: readonly string[] = [
  `/cdn-cgi/${NAMESPACES}`,
  `/cdn-cgi/local/${NAMESPACES}`,
  `//cdn-cgi/local/${NAMESPACES}`,
  `/CDN-CGI/local/${NAMESPACES}`,
  `/%63dn-cgi/local/${NAMESPACES}`,
  `/%2563dn-cgi/local/${NAMESPACES}`,
  `/cdn-cgi%2flocal/${NAMESPACES}`,
  `/cdn-cgi\\local/${NAMESPACES}`,
  `/\\cdn-cgi/local/${NAMESPACES}`,
  `/x/../cdn-cgi/local/${NAMESPACES}`,
  `/x/%2e%2e/cdn-cgi/local/${NAMESPACES}`,
  `/./cdn-cgi/./local/${NAMESPACES}`,
  `http://localhost/cdn-cgi/local/${NAMESPACES}`,
  `/__sluice/../cdn-cgi/local/${NAMESPACES}`,
];
