import { isQueueNotFound, QUEUE_ERROR_CODES, QueueError } from "@sluice/protocol";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { statusOfQueueError } from "../../account/queue-error-status.ts";
import { ApiError } from "../api-error.ts";
import { REQUEST_BYTES_MAX } from "../json-body.ts";
import { peekRoutes } from "./peek-routes.ts";
import { pullRoutes } from "./pull-routes.ts";
import { pushRoutes } from "./push-routes.ts";

/** Routes of the data plane of Cloudflare Queues: messages in and out over HTTP (spec cloudflare-queues 5). */
export function dataRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const messages = "/accounts/:account_id/queues/:queue_id/messages";
  const tooLarge = () => {
    throw new QueueError(
      QUEUE_ERROR_CODES.batchSizeOutOfBounds,
      `the request exceeds the limit of ${REQUEST_BYTES_MAX} bytes`,
    );
  };
  app.use(`${messages}/*`, bodyLimit({ maxSize: REQUEST_BYTES_MAX, onError: tooLarge }));
  app.route(messages, pushRoutes(directory));
  app.route(messages, pullRoutes(directory));
  app.route(messages, peekRoutes(directory));
  app.onError((error) => {
    // The app that mounts these routes answers what is thrown here.
    throw apiErrorOf(error) ?? error;
  });
  return app;
}

function apiErrorOf(error: Error): ApiError | null {
  if (error instanceof QueueError) {
    return new ApiError(statusOfQueueError(error.code), error.code, error.reason);
  }
  // The queue was deleted after it had been found.
  if (!isQueueNotFound(error)) return null;
  const { queueNotFound } = QUEUE_ERROR_CODES;
  return new ApiError(statusOfQueueError(queueNotFound), queueNotFound, "The queue does not exist any more.");
}
