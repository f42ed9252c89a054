import {
  type BacklogMetrics,
  isBindableQueueName,
  isQueueNotFound,
  QUEUE_ERROR_CODES,
  type QueueBrokerRpc,
  QueueError,
  type SendReply,
  type SendRequest,
} from "@sluice/protocol";
import { Hono } from "hono";
import { statusOfQueueError } from "../account/queue-error-status.ts";
import { readBatch } from "./read-batch.ts";
import { readMessage } from "./read-message.ts";

/** Queue and broker of a request, which the app gets beside the request. */
export interface BindingTarget {
  /** The queue that the binding's configuration names: not checked yet, and perhaps absent. */
  readonly queue: unknown;
  readonly broker: Pick<QueueBrokerRpc, "send" | "metrics">;
}

/**
 * Answers the requests of workerd's own `queue` binding, so that a configuration with such a binding can have the
 * broker behind it (spec cloudflare-queues 1.7, 1.8): `POST /message`, `POST /batch`, `GET /metrics`.
 *
 * Bodies are stored as they come, V8's own serialization included. A body that its consumer could not read is refused
 * here (10203), since the whole batch would fail with it there. Every failure carries the code and the cause in the
 * headers `CF-Queues-Error-Code` and `CF-Queues-Error-Cause`, and the cause as its status text.
 */
export function createBindingApp(): Hono<{ Bindings: BindingTarget }> {
  const app = new Hono<{ Bindings: BindingTarget }>();
  app.post("/message", async (c) => send(c.env, await readMessage(c.req.raw)));
  app.post("/batch", async (c) => send(c.env, await readBatch(c.req.raw)));
  app.get("/metrics", async (c) => Response.json(wireMetrics(await c.env.broker.metrics(queueOf(c.env)))));
  app.notFound((c) =>
    failureResponse({
      code: QUEUE_ERROR_CODES.queueNotFound,
      cause: `Nothing answers ${c.req.method} ${c.req.path}.`,
    }),
  );
  app.onError((error) => {
    if (error instanceof QueueError) return failureResponse({ code: error.code, cause: error.reason });
    if (isQueueNotFound(error)) {
      return failureResponse({ code: QUEUE_ERROR_CODES.queueNotFound, cause: "The queue does not exist." });
    }
    console.error(`Queue binding: ${error.stack ?? error}`);
    return failureResponse({ code: QUEUE_ERROR_CODES.unknownInternalError, cause: "Unknown Internal Error" });
  });
  return app;
}

async function send(target: BindingTarget, request: SendRequest): Promise<Response> {
  const reply: SendReply = await target.broker.send(queueOf(target), [request]);
  return reply.ok
    ? Response.json({ metadata: { metrics: wireMetrics(reply.metrics) } })
    : failureResponse(reply);
}

function queueOf({ queue }: BindingTarget): string {
  if (typeof queue !== "string" || !isBindableQueueName(queue)) {
    throw new QueueError(
      QUEUE_ERROR_CODES.queueNotFound,
      `The binding must name its queue in its properties, {"queue": "NAME"}; it says ${JSON.stringify(queue)}.`,
    );
  }
  return queue;
}

/** Makes the figures for the binding, which takes 0 for "nothing waits" and fails on null. */
function wireMetrics({ backlogCount, backlogBytes, oldestMessageTimestampMs }: BacklogMetrics) {
  return { backlogCount, backlogBytes, oldestMessageTimestamp: oldestMessageTimestampMs };
}

/**
 * Makes the answer to a failed request of the binding: code and cause in headers, and the cause as status text for
 * older Workers.
 */
export function failureResponse({
  code,
  cause,
}: {
  readonly code: number;
  readonly cause: string;
}): Response {
  const line = oneLine(cause);
  const status = statusOfQueueError(code);
  const headers = { "CF-Queues-Error-Code": `${code}`, "CF-Queues-Error-Cause": line };
  return new Response(`${line}\n`, { status, statusText: line, headers });
}

/**
 * Makes a text fit for a status text or a header: the Response constructor throws on line breaks and on characters
 * beyond ASCII.
 */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[^\x20-\x7e]/g, "?");
}
