import type { QueueRuntime, ScheduledResult } from "../api.ts";
import { errorOf } from "./errors.ts";
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

  async scheduled({
    cron,
    worker = this.#host.workers[0] ?? "",
    scheduledTime = this.now,
  }: Parameters<QueueRuntime["scheduled"]>[0]): Promise<ScheduledResult> {
    if (!this.#host.workers.includes(worker)) {
      const names = this.#host.workers.map((name) => `"${name}"`).join(" and ");
      throw new Error(`worker: there is no "${worker}" here. There are ${names}.`);
    }
    const event = { worker, cron, scheduledTime: scheduledTime.getTime() };
    const { outcome, errors } = await this.#host.scheduled(event);
    if (outcome === "absent") throw new Error(`Worker "${worker}" has no scheduled() handler.`);
    return { outcome, errors: errors.map((text) => errorOf(this.#host.rewrite(text))) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.dispose();
  }
}
