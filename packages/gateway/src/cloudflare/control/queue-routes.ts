import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { ruledBuckets } from "../../account/ruled-buckets.ts";
import { mayUse } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { metricsView } from "../data/message-view.ts";
import { succeed } from "../envelope.ts";
import { readJson } from "../json-body.ts";
import { pageOf } from "../paging.ts";
import { checkQueue, queueOf } from "../queue-lookup.ts";
import {
  checkQueueName,
  newQueueBody,
  queueChangeBody,
  queueSettings,
  refuseRename,
  SETTINGS_DEFAULT,
} from "./queue-body.ts";
import { queueView } from "./queue-view.ts";
import { refuseNotified } from "./r2-routes.ts";
import { recordIn } from "./refusal.ts";

/** Queue routes: list, create, get, replace (PUT), merge (PATCH), delete, metrics (spec cloudflare-queues 6.4, 6.7). */
export function queueRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();

  app.get("/", async (c) => {
    const names = c.req.queries("name") ?? [];
    const rights = rightsOf(c);
    const records = (await directory.account.list()).filter(({ name }) => mayUse(rights, name));
    const asked = names.length === 0 ? records : records.filter(({ name }) => names.includes(name));
    const { page, info } = pageOf(c, asked);
    const buckets = await ruledBuckets(directory);
    return succeed(
      c,
      page.map((record) => queueView(record, buckets)),
      info,
    );
  });

  app.post("/", async (c) => {
    const { queue_name: name, jurisdiction, settings } = await readJson(c, newQueueBody);
    checkQueueName(name);
    checkQueue(c, name);
    const reply = await directory.account.createQueue({
      name,
      settings: queueSettings(settings),
      ...(jurisdiction === undefined ? {} : { jurisdiction }),
    });
    return succeed(c, queueView(recordIn(reply)));
  });

  app.get("/:queue_id", async (c) => {
    const record = await queueOf(c, directory.account);
    return succeed(c, queueView(record, await ruledBuckets(directory)));
  });

  app.on(["PUT", "PATCH"], "/:queue_id", async (c) => {
    const { queueId, name } = await queueOf(c, directory.account);
    const body = await readJson(c, queueChangeBody);
    refuseRename(name, body.queue_name);
    const base = c.req.method === "PUT" ? SETTINGS_DEFAULT : {};
    const settings = { ...base, ...queueSettings(body.settings) };
    const changed = recordIn(await directory.account.changeQueue(queueId, { settings }));
    return succeed(c, queueView(changed, await ruledBuckets(directory)));
  });

  app.delete("/:queue_id", async (c) => {
    const { queueId } = await queueOf(c, directory.account);
    await refuseNotified(directory, queueId);
    recordIn(await directory.account.deleteQueue(queueId));
    return succeed(c, null);
  });

  app.get("/:queue_id/metrics", async (c) => {
    const { name } = await queueOf(c, directory.account);
    return succeed(c, metricsView(await directory.queue(name).metrics(name)));
  });

  return app;
}
