import {
  PULL_MESSAGES_MAX,
  type PullRequest,
  type PullSettlement,
  QUEUE_ERROR_CODES,
  QueueError,
  VISIBILITY_TIMEOUT_MS_MAX,
} from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import { delayIn } from "../../account/incoming-message.ts";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { API_CODES, ApiError } from "../api-error.ts";
import { succeed } from "../envelope.ts";
import { queueOf } from "../queue-lookup.ts";
import { messageViews, metricsView } from "./message-view.ts";
import { expecting, looseNumber, readRequest, wholeIn } from "./read-request.ts";

/** Most lease ids, or refs, in one call. Cloudflare documents none; ten full pulls fit. */
export const TOKENS_MAX = 1_000;

/** Body of a pull. Wrangler's own hint and older documentation call it `visibility_timeout`, in ms too. */
const pullBody = z.object(
  { batch_size: looseNumber, visibility_timeout_ms: looseNumber, visibility_timeout: looseNumber },
  expecting("object"),
);

const leaseId = z.string(expecting("string"));
const ackBody = z.object(
  {
    acks: z.nullish(z.array(z.object({ lease_id: leaseId }, expecting("object")), expecting("array"))),
    retries: z.nullish(
      z.array(
        z.object({ lease_id: leaseId, delay_seconds: looseNumber }, expecting("object")),
        expecting("array"),
      ),
    ),
  },
  expecting("object"),
);

/** Routes that lease and settle messages over HTTP (spec cloudflare-queues 5.2, 5.5). */
export function pullRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/pull", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    const request = pullRequestOf(await readRequest(c, pullBody));
    const reply = await directory.queue(name).pull(name, request);
    if (!reply.ok) throw reply.reason === "deliveryPaused" ? deliveryPaused() : notPullConsumer();
    const { packed, attempts, leaseIds, metrics } = reply.batch;
    return succeed(c, {
      message_backlog_count: metrics.backlogCount,
      messages: messageViews(packed, attempts).map((view, i) => ({ ...view, lease_id: leaseIds[i] })),
      metadata: { metrics: metricsView(metrics) },
    });
  });

  app.post("/ack", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    const settlement = settlementOf(await readRequest(c, ackBody));
    const { ackCount, retryCount, warnings } = await directory.queue(name).settleLeases(name, settlement);
    return succeed(c, { ackCount, retryCount, warnings: Object.fromEntries(warnings) });
  });

  return app;
}

function pullRequestOf(body: z.infer<typeof pullBody>): PullRequest {
  const max = wholeIn(body.batch_size, "batch_size", 1, PULL_MESSAGES_MAX);
  const field = body.visibility_timeout_ms == null ? "visibility_timeout" : "visibility_timeout_ms";
  const visibilityTimeoutMs = wholeIn(body[field], field, 0, VISIBILITY_TIMEOUT_MS_MAX);
  return {
    ...(max === undefined ? {} : { max }),
    ...(visibilityTimeoutMs === undefined ? {} : { visibilityTimeoutMs }),
  };
}

function settlementOf(body: z.infer<typeof ackBody>): PullSettlement {
  const [acks, retries] = [body.acks ?? [], body.retries ?? []];
  checkCount(acks.length + retries.length, "acks and retries");
  return {
    acks: acks.map(({ lease_id }) => lease_id),
    retries: retries.map((retry) => {
      const delaySeconds = delayIn(retry.delay_seconds, "retry", QUEUE_ERROR_CODES.messageMetadataInvalid);
      return { leaseId: retry.lease_id, ...(delaySeconds === undefined ? {} : { delaySeconds }) };
    }),
  };
}

/** Throws QueueError 10206 for more lease ids or refs than one call may have. */
export function checkCount(count: number, what: string): void {
  if (count <= TOKENS_MAX) return;
  throw new QueueError(
    QUEUE_ERROR_CODES.batchCountOutOfBounds,
    `${count} ${what} exceed the limit of ${TOKENS_MAX}`,
  );
}

/**
 * Makes the error for a queue without a pull consumer. It is the API's own, without a code (spec cloudflare-queues
 * 5.6).
 */
function notPullConsumer(): ApiError {
  return new ApiError(405, API_CODES.none, "messages cannot be pulled unless http_pull mode is enabled");
}

function deliveryPaused(): ApiError {
  return new ApiError(409, API_CODES.none, "queue_delivery_paused");
}
