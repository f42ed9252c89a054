import { isEndpointQueue, PULL_MESSAGES_MAX, type QueueRecord } from "@sluice/protocol";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { bodyText } from "../../http/body-text.ts";
import { AdminError } from "../failure.ts";
import { backupMessage } from "../messages/backup-message.ts";
import { checkedCursor } from "../messages/look-routes.ts";
import { timeOf } from "../time.ts";
import { sourcesFirst } from "./backup-order.ts";
import {
  type BackupRedrive,
  type BackupSubscription,
  type BackupView,
  backupQueue,
  backupTopic,
  backupTopicSubscription,
} from "./backup-view.ts";
import {
  type DialectRestoring,
  restorableTarget,
  restoreQueue,
  restoreSubscription,
  restoreTopic,
  restoreTopicSubscription,
} from "./restore.ts";
import { restoreMessages } from "./restore-messages.ts";

/** Most queues that are asked at a time for their latest redrive. */
const ASKED_AT_A_TIME = 50;

/** Routes that back up a whole broker, and restore it. */
export function backupRoutes(directory: QueueDirectory, restoring: DialectRestoring): Hono {
  const app = new Hono();

  app.get("/", async (c) => c.json(await backupOf(directory)));

  app.get("/messages", async (c) => {
    const name = await holderOf(directory, c.req.query("queue") ?? "");
    const cursor = c.req.query("cursor");
    const request = {
      max: PULL_MESSAGES_MAX,
      isWhole: true,
      ...(cursor === undefined ? {} : { cursor: checkedCursor(cursor) }),
    };
    const [{ nowMs }, found] = await Promise.all([
      directory.describe(name),
      directory.queue(name).look(name, request),
    ]);
    const messages = found.messages.map((message) => backupMessage(message, nowMs));
    return c.json({ messages, cursor: found.cursor, searched: found.searched, of: found.of });
  });

  app.post("/queues", async (c) => c.json(await restoreQueue(c, directory, restoring)));
  app.post("/topics", async (c) => c.json(await restoreTopic(c, restoring)));
  app.post("/topic-subscriptions", async (c) => c.json(await restoreTopicSubscription(c, restoring)));
  app.post("/subscriptions", async (c) => c.json(await restoreSubscription(c, directory)));

  app.post("/messages", async (c) => {
    const name = await holderOf(directory, c.req.query("queue") ?? "");
    await refuseUnconfirmed(directory, name);
    return c.json(await restoreMessages(directory, name, await bodyText(c)));
  });

  return app;
}

async function backupOf(directory: QueueDirectory): Promise<BackupView> {
  const { account, topics } = directory;
  const [records, topicRecords, topicSubscriptions, subscriptions] = await Promise.all([
    account.list(),
    topics.listTopics(),
    topics.listTopicSubscriptions(),
    account.listSubscriptions(),
  ]);
  const queues = sourcesFirst(records);
  const byId = new Map(records.map(({ queueId, name }) => [queueId, name]));
  // The queue of an unconfirmed endpoint holds only the request to confirm, which a restore makes anew.
  const endpoints = topicSubscriptions
    .filter(({ status, target }) => status.kind === "confirmed" && isEndpointQueue(target))
    .map(({ target }) => target);
  return {
    at: timeOf(Date.now()),
    queues: queues.toReversed().map(backupQueue),
    topics: topicRecords.map(backupTopic),
    topicSubscriptions: topicSubscriptions.map(backupTopicSubscription),
    subscriptions: subscriptions.flatMap(
      ({ name, enabled, source, queueId, events }): BackupSubscription[] => {
        const queue = byId.get(queueId);
        return queue === undefined ? [] : [{ name, enabled, source, queue, events }];
      },
    ),
    // Endpoints before queues: an endpoint's messages may move to a queue, as dead letters.
    holders: [...endpoints, ...queues.map(({ name }) => name)],
    redrives: await redrivesOf(directory, records),
  };
}

async function redrivesOf(
  directory: QueueDirectory,
  records: readonly QueueRecord[],
): Promise<BackupRedrive[]> {
  const redrives: BackupRedrive[] = [];
  for (let at = 0; at < records.length; at += ASKED_AT_A_TIME) {
    const some = records.slice(at, at + ASKED_AT_A_TIME);
    const described = await Promise.all(some.map(({ name }) => directory.describe(name)));
    for (const { queue, lastMove } of described) {
      if (lastMove === null) continue;
      const isRunning = lastMove.status === "running";
      redrives.push({ queue, startedAt: timeOf(lastMove.startedMs), isRunning });
    }
  }
  return redrives;
}

/** Throws 409 for an endpoint that has not confirmed: no messages are posted to it. */
async function refuseUnconfirmed({ topics }: QueueDirectory, name: string): Promise<void> {
  if (!isEndpointQueue(name)) return;
  const subscription = (await topics.listTopicSubscriptions()).find(({ target }) => target === name);
  if (subscription === undefined || restorableTarget(subscription) !== null) return;
  const text = `The endpoint of "${name}" has not confirmed that it subscribes: it takes no messages before.`;
  throw new AdminError(409, "not_confirmed", text);
}

/** Finds the queue, or the queue of an endpoint, that a request names. Throws 404. */
async function holderOf({ account, topics }: QueueDirectory, name: string): Promise<string> {
  const exists = isEndpointQueue(name)
    ? (await topics.listTopicSubscriptions()).some(({ target }) => target === name)
    : (await account.findByName(name)) !== null;
  if (!exists) throw new AdminError(404, "queue_not_found", `There is no queue "${name}".`);
  return name;
}
