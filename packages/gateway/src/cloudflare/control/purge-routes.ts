import type { PurgeRecord } from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import { purgeAndNote } from "../../account/purge.ts";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { ruledBuckets } from "../../account/ruled-buckets.ts";
import { invalid } from "../api-error.ts";
import { succeed } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import { queueOf } from "../queue-lookup.ts";
import { queueView } from "./queue-view.ts";

const purgeBody = z.object({ delete_messages_permanently: z.optional(z.boolean()) });

/** Routes that purge a queue, and show when it was purged last (spec cloudflare-queues 4, 6.4, 6.7). */
export function purgeRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.post("/:queue_id/purge", async (c) => {
    const record = await queueOf(c, directory.account);
    const body = await readJson(c, purgeBody);
    if (body.delete_messages_permanently !== true) {
      throw invalid('A purge cannot be undone: it needs "delete_messages_permanently": true.');
    }
    const { purge } = await purgeAndNote(directory, record);
    // Wrangler and the SDK expect different answers: this one has the fields of both.
    const view = queueView(record, await ruledBuckets(directory));
    return succeed(c, { ...view, ...statusOf(purge), complete: "true" });
  });

  app.get("/:queue_id/purge", async (c) => {
    const { queueId } = await queueOf(c, directory.account);
    const purge = await directory.account.lastPurge(queueId);
    return succeed(c, purge === null ? {} : statusOf(purge));
  });

  return app;
}

function statusOf({ startedMs, completedMs }: PurgeRecord) {
  return { started_at: new Date(startedMs).toISOString(), completed: String(completedMs !== null) };
}
