import type { ConsumerDefinition, QueueRecord } from "@sluice/protocol";
import { type Context, Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { invalid } from "../api-error.ts";
import { succeed } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import { pageOf } from "../paging.ts";
import { checkQueue, isId, queueOf } from "../queue-lookup.ts";
import { consumerBody, consumerOf } from "./consumer-body.ts";
import { consumerViews } from "./queue-view.ts";
import { errorOf, recordIn } from "./refusal.ts";

/** Routes of a queue's one consumer (spec cloudflare-queues 4, 6.4, 6.7). A PUT creates it if it is absent. */
export function consumerRoutes({ account, clock }: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/:queue_id/consumers", async (c) => {
    const { page, info } = pageOf(c, consumerViews(await queueOf(c, account)));
    return succeed(c, page, info);
  });

  app.post("/:queue_id/consumers", async (c) => {
    const { queueId } = await queueOf(c, account);
    const consumer = await consumerIn(c, clock !== null);
    return succeed(c, viewIn(recordIn(await account.setConsumer(queueId, null, consumer), rightsOf(c))));
  });

  app.get("/:queue_id/consumers/:consumer_id", async (c) => {
    const record = await queueOf(c, account);
    const [view] = consumerViews(record).filter(
      ({ consumer_id }) => consumer_id === c.req.param("consumer_id"),
    );
    if (view === undefined) throw errorOf({ kind: "consumerNotFound" });
    return succeed(c, view);
  });

  app.put("/:queue_id/consumers/:consumer_id", async (c) => {
    const { queueId } = await queueOf(c, account);
    const id = c.req.param("consumer_id");
    if (!isId(id)) throw invalid(`"${id}" is not a consumer id: those have 32 hexadecimal digits.`);
    const consumer = await consumerIn(c, clock !== null);
    const reply = await account.setConsumer(queueId, id, consumer);
    return succeed(c, viewIn(recordIn(reply, rightsOf(c))));
  });

  app.delete("/:queue_id/consumers/:consumer_id", async (c) => {
    const { queueId } = await queueOf(c, account);
    recordIn(await account.removeConsumer(queueId, c.req.param("consumer_id")));
    return succeed(c, null);
  });

  return app;
}

/**
 * Reads the consumer in a body. Its dead letters may only go to a queue that the request may use.
 *
 * @param isDevelopment whether notifications are shown. They are never sent, so elsewhere their consumer is refused.
 */
async function consumerIn(c: Context, isDevelopment: boolean): Promise<ConsumerDefinition> {
  const consumer = consumerOf(await readJson(c, consumerBody));
  if (consumer.type === "notification" && !isDevelopment) {
    throw invalid(
      "This broker sends no notifications: only sluice dev takes such a consumer, and shows them.",
    );
  }
  const { deadLetterQueue } = consumer.settings;
  if (deadLetterQueue !== null) checkQueue(c, deadLetterQueue);
  return consumer;
}

function viewIn(record: QueueRecord) {
  const [view] = consumerViews(record);
  return view ?? null;
}
