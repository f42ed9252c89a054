import { SHARDS_MAX } from "@sluice/protocol";
import { Hono } from "hono";
import * as z from "zod/mini";
import { purgeAndNote } from "../../account/purge.ts";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { ruledBuckets } from "../../account/ruled-buckets.ts";
import { SHARDS_REFUSED } from "../../account/shards-refused.ts";
import { bodyText } from "../../http/body-text.ts";
import { shownMove } from "../../rights/other-queues.ts";
import { mayUse, type Rights } from "../../rights/rights.ts";
import { rightsOf } from "../../rights/route-needs.ts";
import { AdminError, queueNotFound } from "../failure.ts";
import { inParallel, LISTED_AT_ONCE } from "../in-parallel.ts";
import { checkQueue, queueOf } from "../queue-of.ts";
import { moveView, type Surroundings, viewOf } from "./queue-view.ts";
import { cancelRedrive, redrive } from "./redrive.ts";
import { shardsView } from "./shards-view.ts";

/** Body of a request that changes the number of a queue's shards. */
export const SHARDS = z.strictObject({ shards: z.int().check(z.gte(1), z.lte(SHARDS_MAX)) });

/** Routes of queues: their contents, and actions of an operator by hand. */
export function queueRoutes(directory: QueueDirectory): Hono {
  const app = new Hono();
  const { account } = directory;

  app.get("/", async (c) => {
    const [surroundings, deployed] = await Promise.all([
      surroundingsOf(directory, rightsOf(c)),
      account.deployed(),
    ]);
    const reported = c.req.query("reported") === "true" ? await account.atRest() : [];
    const atRest = new Map(reported.map(({ queueId, description }) => [queueId, description]));
    const queues = await inParallel(surroundings.queues, LISTED_AT_ONCE, async (record) => {
      const description = atRest.get(record.queueId) ?? (await directory.describe(record.name));
      return viewOf(record, description, surroundings);
    });
    return c.json({ queues, deployed });
  });

  app.get("/:name", async (c) => {
    const { name } = await queueOf(c, directory);
    return c.json(await viewQueue(directory, name, rightsOf(c)));
  });

  app.get("/:name/shards", async (c) => {
    const { name, definition } = await queueOf(c, directory);
    return c.json(shardsView(definition.shards, await directory.describeShards(name)));
  });

  app.put("/:name/shards", async (c) => {
    const { name, queueId } = await queueOf(c, directory);
    const settings = SHARDS.safeParse(await c.req.json().catch(() => null)).data;
    if (settings === undefined) {
      const text = `A queue has 1 to ${SHARDS_MAX} shards: the body must be {"shards": N}.`;
      throw new AdminError(400, "invalid_body", text);
    }
    const reply = await account.changeQueue(queueId, { settings });
    if (!reply.ok) {
      const { refusal } = reply;
      if (refusal.kind !== "shardsRefused") throw queueNotFound(name);
      throw new AdminError(409, "shards_refused", SHARDS_REFUSED[refusal.reason]);
    }
    return c.json(await viewQueue(directory, name, rightsOf(c)));
  });

  for (const [action, deliveryPaused] of [
    ["pause", true],
    ["resume", false],
  ] as const) {
    app.post(`/:name/${action}`, async (c) => {
      const { name, queueId } = await queueOf(c, directory);
      const reply = await account.changeQueue(queueId, { settings: { deliveryPaused } });
      // A setting is only refused if the queue is gone by now.
      if (!reply.ok) throw queueNotFound(name);
      return c.json(await viewQueue(directory, name, rightsOf(c)));
    });
  }

  app.post("/:name/purge", async (c) => {
    const { purged } = await purgeAndNote(directory, await queueOf(c, directory));
    return c.json({ purged });
  });

  app.post("/:name/redrive", async (c) => {
    const record = await queueOf(c, directory);
    const rights = rightsOf(c);
    const caller = { rights, check: (name: string) => checkQueue(c, name) };
    const begun = await redrive(directory, record, await bodyText(c), caller);
    if ("dryRun" in begun) c.set("changed", null);
    return c.json("dryRun" in begun ? begun : { move: moveView(shownMove(rights, begun)) });
  });

  app.post("/:name/redrive/cancel", async (c) => {
    const { name } = await queueOf(c, directory);
    return c.json({ move: moveView(shownMove(rightsOf(c), await cancelRedrive(directory, name))) });
  });

  app.post("/:name/drain", async (c) => {
    const { name } = await queueOf(c, directory);
    return c.json(await directory.queue(name).drain(name));
  });

  return app;
}

/** Lists topics, buckets with rules, and the queues that the caller may use. */
async function surroundingsOf(directory: QueueDirectory, rights: Rights): Promise<Surroundings> {
  const { account, topics } = directory;
  const [queues, subscriptions, buckets] = await Promise.all([
    account.list(),
    topics.listTopicSubscriptions(),
    ruledBuckets(directory),
  ]);
  return { rights, queues: queues.filter(({ name }) => mayUse(rights, name)), subscriptions, buckets };
}

async function viewQueue(directory: QueueDirectory, name: string, rights: Rights) {
  const [surroundings, description] = await Promise.all([
    surroundingsOf(directory, rights),
    directory.describe(name),
  ]);
  const record = surroundings.queues.find((queue) => queue.name === name);
  if (record === undefined) throw queueNotFound(name);
  return viewOf(record, description, surroundings);
}
