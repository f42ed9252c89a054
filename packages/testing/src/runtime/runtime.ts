import type { QueueRuntime } from "../api.ts";
import type { Host } from "./host.ts";
import { Queues } from "./queues.ts";

/** The user's Workers on a broker, as a test sees them. */
export class Runtime<E> extends Queues implements QueueRuntime<E> {
  readonly env: E;
  readonly #host: Host;

  constructor(host: Host, startMs: number) {
    super(host, startMs);
    this.#host = host;
    this.env = host.env as E;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(
      input instanceof Request ? input : new URL(input, "http://localhost"),
      init as never,
    );
    const { method, url } = request;
    const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
    const response = await this.#host.fetch(url, {
      ...{ method, headers: [...request.headers], redirect: "manual" },
      ...(body === null || body.byteLength === 0 ? {} : { body }),
    });
    return response as unknown as Response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.dispose();
  }
}
