import type { QueueRecord } from "@sluice/protocol";
import { pluralIs } from "@sluice/protocol/words";
import { Hono } from "hono";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { PREFIX } from "../../http/prefix.ts";
import type { Authority } from "../../rights/authority.ts";
import { guard } from "../access/guard.ts";
import { answerFailure } from "../failure.ts";
import { viewTopics } from "../topics/topic-routes.ts";
import type { TopicView } from "../topics/topic-view.ts";
import { QueueFigures } from "./ask-queues.ts";
import { EXPOSITION_TYPE, exposition } from "./exposition.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { topicMetrics } from "./topic-metrics.ts";

/** Most left out queues that the log names. */
const NAMED_MAX = 10;

/** `GET /`: every queue and topic in Prometheus' text format, for callers of the admin API. */
export function metricsRoutes(directory: QueueDirectory, authority: Authority): Hono {
  const app = new Hono();
  app.use(guard(authority, directory.audit, PREFIX));
  app.onError(answerFailure);
  app.get("/", async (c) => {
    const figures = await QueueFigures.begin(directory);
    try {
      const records = await directory.account.list();
      const [{ asked, leftOut }, topics] = await Promise.all([
        figures.ask(records),
        askTopics(directory, figures),
      ]);
      if (leftOut.length > 0) warnOfLeftOut(leftOut);
      const text = exposition([...queueMetrics(asked, leftOut.length), ...topicMetrics(topics)]);
      return c.body(text, 200, { "content-type": EXPOSITION_TYPE });
    } finally {
      figures.end();
    }
  });
  return app;
}

async function askTopics(directory: QueueDirectory, figures: QueueFigures): Promise<TopicView[]> {
  try {
    const describe = (queue: string) => figures.describe(queue);
    return await figures.inTime(viewTopics({ ...directory, describe }));
  } catch (error) {
    console.error(`Topics did not answer for their metrics: ${error}`);
    return [];
  }
}

function warnOfLeftOut(records: readonly QueueRecord[]): void {
  const names = records.slice(0, NAMED_MAX).map(({ name }) => name);
  const more = records.length > names.length ? ", ..." : "";
  console.warn(
    `${pluralIs(records.length, "queue")} left out of the metrics, there was no time to ask them: ${names.join(", ")}${more}`,
  );
}
