import { ACTORS } from "@sluice/protocol";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import type { Waits } from "../../account/waits.ts";
import { shownEvents } from "../../rights/other-queues.ts";
import { mayUse } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { checkQueue } from "../queue-of.ts";
import { EventStream, type StreamPorts } from "./event-stream.ts";
import { kindsQuery } from "./history-routes.ts";

/** Most streams that are open at a time. */
export const STREAMS_MAX = 50;
/** Most streams that one token has open at a time, so that none keeps all others out. */
export const STREAMS_OF_TOKEN_MAX = 10;
/** Most queues that one stream watches where the request names none. */
export const WATCHED_QUEUES_MAX = 100;

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store" };

const TOO_MANY = "too_many_streams";

/** Counts streams that are open. */
class Slots {
  readonly #open = new Map<string, number>();

  /** Takes a slot. Throws `AdminError` where all are taken, or all of the token's. */
  take(by: string): void {
    const own = this.#open.get(by) ?? 0;
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= STREAMS_MAX) throw new AdminError(503, TOO_MANY, `${STREAMS_MAX} streams are open already.`);
    // Without tokens all callers have the same name.
    if (by !== ACTORS.local && own >= STREAMS_OF_TOKEN_MAX) {
      throw new AdminError(
        429,
        TOO_MANY,
        `The token "${by}" has ${STREAMS_OF_TOKEN_MAX} streams open already.`,
      );
    }
    this.#open.set(by, own + 1);
  }

  giveBack(by: string): void {
    const left = (this.#open.get(by) ?? 0) - 1;
    if (left > 0) this.#open.set(by, left);
    else this.#open.delete(by);
  }
}

/** Live events of queues: `text/event-stream`, to be read by `fetch`. */
export function streamRoutes(directory: QueueDirectory, waits: Waits): Hono {
  const app = new Hono();
  const { account, queue } = directory;
  const slots = new Slots();

  app.get("/", async (c) => {
    const kinds = kindsQuery(c);
    const named = c.req.queries("queue") ?? [];
    let rights = rightsOf(c);
    const { by } = rights;
    for (const name of named) checkQueue(c, name);
    for (const name of named) if ((await account.findByName(name)) === null) throw queueNotFound(name);
    if (waits.isStopped) throw new AdminError(503, TOO_MANY, "The broker is about to end.");
    // Nobody reads the body of an answer to HEAD, so nothing would end the stream.
    if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
    const ports: StreamPorts = {
      queues: async () => {
        rights = await c.get("admitAgain")();
        const all = (await account.list()).flatMap(({ name }) => (mayUse(rights, name) ? name : []));
        return named.length === 0
          ? all.slice(0, WATCHED_QUEUES_MAX)
          : named.filter((name) => all.includes(name));
      },
      watch: async (name, request) => {
        const reply = await queue(name).watch(name, request);
        return { ...reply, events: shownEvents(rights, reply.events) };
      },
      now: () => Date.now(),
      after: (callback, ms) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    };
    const stream = new EventStream(ports, kinds);
    const { promise, resolve } = Promise.withResolvers<void>();
    slots.take(by);
    void waits.during(promise, async () => stream.end()).finally(() => slots.giveBack(by));
    // Some versions of workerd do not cancel the body when the client has gone.
    const { signal } = c.req.raw;
    const onAbort = () => {
      stream.end();
      resolve();
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return new Response(stream.body(resolve), { headers: HEADERS });
  });

  return app;
}
