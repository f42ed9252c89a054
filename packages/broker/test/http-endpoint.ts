import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";

/** A request that reached the endpoint. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How the endpoint answers: a status with headers, or whatever is done with the response by hand. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string> }
  | ((response: ServerResponse) => void);

/** An HTTP endpoint of somebody else: a plain Node server. */
export interface HttpEndpoint {
  readonly port: number;
  /** POSTs in the order in which they came. */
  readonly posts: SeenRequest[];
  /** Requests that were no POST. */
  readonly others: SeenRequest[];
  /** Most requests that were open at a time. */
  readonly mostOpen: number;
  /** Answers a POST. Default: 200. */
  answer: (post: SeenRequest) => Answer | Promise<Answer>;
  /** Resolves when `condition` holds; asked again at every request. */
  until(condition: () => boolean): Promise<void>;
  /** Nobody listens any more, and what was connected is cut off. */
  close(): Promise<void>;
  /** Listens again, on the same port. */
  open(): Promise<void>;
}

export async function startEndpoint(): Promise<HttpEndpoint> {
  const waiters = new Set<() => void>();
  let openCount = 0;
  let mostOpen = 0;
  let port = 0;
  const server = createServer(async (request, response) => {
    openCount += 1;
    mostOpen = Math.max(mostOpen, openCount);
    response.on("close", () => {
      openCount -= 1;
    });
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = "", url: path = "", headers } = request;
    const seen = { method, path, headers, body: Buffer.concat(chunks).toString() };
    (method === "POST" ? endpoint.posts : endpoint.others).push(seen);
    for (const check of [...waiters]) check();
    const answer = method === "POST" ? await endpoint.answer(seen) : { status: 200 };
    if (typeof answer === "function") answer(response);
    else response.writeHead(answer.status, answer.headers).end("an answer that nobody reads");
  });
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const endpoint: HttpEndpoint = {
    get port() {
      return port;
    },
    get mostOpen() {
      return mostOpen;
    },
    posts: [],
    others: [],
    answer: () => ({ status: 200 }),
    until(condition) {
      return new Promise((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiters.delete(check);
          resolve();
        };
        waiters.add(check);
        check();
      });
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
    open: listen,
  };
  await listen();
  port = (server.address() as AddressInfo).port;
  return endpoint;
}

/** Its thread never accepts a connection, and what waits to be accepted fills its queue: no further one is made. */
const DEAF = `
const { connect, createServer } = require("node:net");
const { parentPort } = require("node:worker_threads");
const server = createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  const { port } = server.address();
  for (let i = 0; i < 4; i++) connect(port, "127.0.0.1");
  // The connections begin in the next tick, before this one.
  process.nextTick(() => {
    parentPort.postMessage(port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
});
`;

/** A server to which no connection is made, and that refuses none. */
export async function startDeafEndpoint(): Promise<{ readonly port: number; close(): Promise<unknown> }> {
  const worker = new Worker(DEAF, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  return { port, close: () => worker.terminate() };
}
