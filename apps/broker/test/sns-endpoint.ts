import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";

/** POST request to an endpoint. */
export interface EndpointPost {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An ordinary web application that is subscribed to topics. */
export interface SnsEndpoint {
  /** Returns the URL of a path. */
  url(path: string): string;
  /** Requests to a path, in order. */
  posts(path: string): readonly EndpointPost[];
  /** Resolves with the requests to a path when there are at least `count`. */
  arrived(path: string, count: number): Promise<readonly EndpointPost[]>;
  /** Method and path of each request that was no POST. */
  readonly others: readonly string[];
  /** Sets the status of a path's answers, by default 200. With `null` requests are never answered. */
  answers(path: string, status: number | null): void;
  close(): Promise<void>;
}

export async function startSnsEndpoint(): Promise<SnsEndpoint> {
  const posts = new Map<string, EndpointPost[]>();
  const statuses = new Map<string, number | null>();
  const waiting = new Set<() => void>();
  const others: string[] = [];
  const postsOf = (path: string) => posts.get(path) ?? [];
  const app = express()
    .use(express.text({ type: () => true, limit: "10mb" }))
    .use(({ path, method, headers, body }, response) => {
      if (method === "POST") posts.set(path, [...postsOf(path), { headers, body: String(body) }]);
      else others.push(`${method} ${path}`);
      const status = statuses.get(path);
      if (status !== null) response.sendStatus(status ?? 200);
      for (const look of waiting) look();
    });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    posts: postsOf,
    others,
    arrived: (path, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (postsOf(path).length < count) return;
          waiting.delete(look);
          resolve(postsOf(path));
        };
        waiting.add(look);
        look();
      }),
    answers: (path, status) => statuses.set(path, status),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
