import { QUEUE_ERROR_CODES, QueueError, type SendRequest } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { traceOfRequest } from "../../http/trace-of-request.ts";
import { succeed } from "../envelope.ts";
import { queueOf } from "../queue-lookup.ts";
import { metricsView } from "./message-view.ts";
import { batchRequestOf, pushBatchBody, pushBody, requestOf } from "./push-body.ts";
import { readRequest } from "./read-request.ts";

/** Routes that send messages over HTTP (spec cloudflare-queues 5.2, 5.3), answered when they are stored. */
export function pushRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  const send = async (c: Context, name: string, request: SendRequest) => {
    const reply = await directory.queue(name).send(name, [request], "HTTP API");
    if (!reply.ok) throw new QueueError(reply.code, reply.cause);
    return succeed(c, { metadata: { metrics: metricsView(reply.metrics) } });
  };

  app.post("/", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    return send(c, name, requestOf(await readRequest(c, pushBody), traceOfRequest(c.req.raw.headers)));
  });

  app.post("/batch", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    const body = await readRequest(c, pushBatchBody);
    return send(c, name, batchRequestOf(body, traceOfRequest(c.req.raw.headers)));
  });

  return app;
}
