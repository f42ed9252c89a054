import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";

/** Headers that are about one connection, and no part of what is said over it. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Hands requests on to a server of this machine, one by one. */
export class Forwarder {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });

  /** @param port on 127.0.0.1. */
  constructor(port: number) {
    this.#port = port;
  }

  /** @param read what was read of the body already; the rest is taken from the request. */
  forward(incoming: IncomingMessage, response: ServerResponse, read: readonly Buffer[]): void {
    const { method, url: path, headers } = incoming;
    const outgoing = request({
      ...{ host: "127.0.0.1", port: this.#port, agent: this.#agent, method, path },
      headers: endToEnd(headers),
    });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    for (const chunk of read) outgoing.write(chunk);
    incoming.pipe(outgoing);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_THE_CONNECTION.has(name)) kept[name] = value;
  }
  return kept;
}
