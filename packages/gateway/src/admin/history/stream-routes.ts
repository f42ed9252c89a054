import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import type { Waits } from "../../account/waits.ts";
import { mayUse } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { checkQueue } from "../queue-of.ts";
import { EventStream, type StreamPorts } from "./event-stream.ts";
import { kindsQuery } from "./history-routes.ts";

/** Streams that are open at a time. */
export const STREAMS_MAX = 50;
/** Queues that one stream watches where none are named. */
export const WATCHED_QUEUES_MAX = 100;

/** Live events of queues: `text/event-stream`, to be read by `fetch`. */
export function streamRoutes(directory: QueueDirectory, waits: Waits): Hono {
  const app = new Hono();
  const { account, queue } = directory;
  let open = 0;

  app.get("/", async (c) => {
    const kinds = kindsQuery(c);
    const named = c.req.queries("queue") ?? [];
    const rights = rightsOf(c);
    for (const name of named) checkQueue(c, name);
    for (const name of named) if ((await account.findByName(name)) === null) throw queueNotFound(name);
    if (open >= STREAMS_MAX || waits.isStopped) {
      throw new AdminError(
        503,
        "too_many_streams",
        `${STREAMS_MAX} streams are open already, or the broker ends.`,
      );
    }
    const ports: StreamPorts = {
      queues: async () => {
        const all = (await account.list()).flatMap(({ name }) => (mayUse(rights, name) ? name : []));
        return named.length === 0
          ? all.slice(0, WATCHED_QUEUES_MAX)
          : named.filter((name) => all.includes(name));
      },
      watch: (name, request) => queue(name).watch(name, request),
      now: () => Date.now(),
      after: (callback, ms) => {
        const timer = setTimeout(callback, ms);
        return () => clearTimeout(timer);
      },
    };
    const stream = new EventStream(ports, kinds);
    const { promise, resolve } = Promise.withResolvers<void>();
    open += 1;
    void waits
      .during(promise, async () => stream.end())
      .finally(() => {
        open -= 1;
      });
    return new Response(stream.body(resolve), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  });

  return app;
}
