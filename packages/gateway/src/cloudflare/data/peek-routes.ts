import { PULL_BATCH_SIZE_DEFAULT, PULL_MESSAGES_MAX, QUEUE_ERROR_CODES } from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { succeed } from "../envelope.ts";
import { queueOf } from "../queue-lookup.ts";
import { messageViews } from "./message-view.ts";
import { checkCount } from "./pull-routes.ts";
import { expecting, looseNumber, readRequest, wholeIn } from "./read-request.ts";

const peekBody = z.object({ batch_size: looseNumber }, expecting("object"));
const purgeBody = z.object(
  {
    refs: z.array(z.object({ ref: z.string(expecting("string")) }, expecting("object")), expecting("array")),
  },
  expecting("object"),
);

/**
 * Routes that show messages without a lease, and delete them one by one (spec cloudflare-queues 5.2), on queues with
 * any consumer.
 */
export function peekRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/peek", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    const { batch_size } = await readRequest(c, peekBody);
    const max = wholeIn(batch_size, "batch_size", 1, PULL_MESSAGES_MAX) ?? PULL_BATCH_SIZE_DEFAULT;
    const { packed, attempts, refs } = await directory.queue(name).peek(name, max);
    return succeed(c, {
      messages: messageViews(packed, attempts).map((view, i) => ({ ...view, ref: refs[i] })),
    });
  });

  app.post("/purge", async (c) => {
    const { name } = await queueOf(c, directory.account, QUEUE_ERROR_CODES.queueNotFound);
    const { refs } = await readRequest(c, purgeBody);
    checkCount(refs.length, "refs");
    const { warnings } = await directory.queue(name).deleteByRefs(
      name,
      refs.map(({ ref }) => ref),
    );
    return succeed(c, { errors: [], warnings: Object.fromEntries(warnings) });
  });

  return app;
}
