import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Failure of a request: an answer with this status instead of the server's, or a connection cut before or after it. */
export type Fault = number | "cutBefore" | "cutAfter";
export const FAULTS: readonly Fault[] = [500, 429, "cutBefore", "cutAfter"];

/** Proxy before a server that can make requests fail. */
export class FlakyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #upstream: string;
  /** Number of requests by kind, such as `POST /messages/pull`. */
  readonly seen = new Map<string, number>();
  readonly #requests = new Set<string>();
  /** Decides whether a request fails. `isNew` is false for an equal request that came before. Default: all succeed. */
  faultOf: (kind: string, isNew: boolean) => Fault | null = () => null;

  private constructor(upstream: string) {
    this.#upstream = upstream;
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch(() => response.destroy());
    });
  }

  static async start(upstream: string): Promise<FlakyProxy> {
    const proxy = new FlakyProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Makes each request fail once: an equal one succeeds when it comes again. */
  failEachOnce(fault: Fault): void {
    this.seen.clear();
    this.#requests.clear();
    this.faultOf = (_, isNew) => (isNew ? fault : null);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const kind = kindOf(request);
    this.seen.set(kind, (this.seen.get(kind) ?? 0) + 1);
    const same = `${kind} ${request.url} ${body}`;
    const fault = this.faultOf(kind, !this.#requests.has(same));
    this.#requests.add(same);
    if (fault === "cutBefore") return void response.destroy();
    if (typeof fault === "number") {
      const refusal = {
        success: false,
        errors: [{ code: 0, message: "flaky" }],
        error: { message: "flaky" },
      };
      response.writeHead(fault, { "content-type": "application/json" }).end(JSON.stringify(refusal));
      return;
    }
    const { host: _, connection: __, "transfer-encoding": ___, ...headers } = request.headers;
    const answer = await fetch(`${this.#upstream}${request.url}`, {
      method: request.method ?? "GET",
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
      ...(body.byteLength === 0 ? {} : { body: new Uint8Array(body) }),
    });
    const text = await answer.text();
    if (fault === "cutAfter") return void response.destroy();
    const contentType = answer.headers.get("content-type") ?? "application/json";
    response.writeHead(answer.status, { "content-type": contentType }).end(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Names the kind of a request: its action of SQS, or its method and path without ids. */
function kindOf({ headers, method, url = "" }: IncomingMessage): string {
  const action = headers["x-amz-target"];
  if (action !== undefined) return `${action}`.replace("AmazonSQS.", "");
  const path = url.replace(/\?.*/, "").replace(/[0-9a-f]{32}/g, "ID");
  return `${method} ${path.replace(/^\/__sluice\/(api|client\/v4\/accounts\/ID)/, "")}`;
}
