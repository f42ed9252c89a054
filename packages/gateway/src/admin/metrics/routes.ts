import type { QueueRecord } from "@sluice/protocol";
import { Hono } from "hono";
import type { Access } from "../../access.ts";
import type { QueueDirectory } from "../../queue-directory.ts";
import { guard } from "../guard.ts";
import { viewTopics } from "../topic-routes.ts";
import type { TopicView } from "../topic-view.ts";
import { EXPOSITION_TYPE, exposition } from "./exposition.ts";
import { type AskedQueue, queueMetrics } from "./queue-metrics.ts";
import { topicMetrics } from "./topic-metrics.ts";

/** `GET /`: every queue and topic in Prometheus' text format, for whom the admin API is open to. */
export function metricsRoutes(directory: QueueDirectory, access: Access): Hono {
  const app = new Hono();
  app.use(guard(access));
  app.get("/", async (c) => {
    const [queues, topics] = await Promise.all([askQueues(directory), askTopics(directory)]);
    const text = exposition([...queueMetrics(queues), ...topicMetrics(topics)]);
    return c.body(text, 200, { "content-type": EXPOSITION_TYPE });
  });
  return app;
}

async function askQueues(directory: QueueDirectory): Promise<AskedQueue[]> {
  const records = await directory.account.list();
  return Promise.all(records.map((record) => askQueue(directory, record)));
}

async function askTopics(directory: QueueDirectory): Promise<TopicView[]> {
  try {
    return await viewTopics(directory);
  } catch (error) {
    console.error(`Topics did not answer for their metrics: ${error}`);
    return [];
  }
}

/** One queue that fails keeps nobody from seeing that it does, nor how the others are. */
async function askQueue(directory: QueueDirectory, record: QueueRecord): Promise<AskedQueue> {
  try {
    return { record, description: await directory.describe(record.name) };
  } catch (error) {
    console.error(`Queue "${record.name}" did not answer for its metrics: ${error}`);
    return { record, description: null };
  }
}
