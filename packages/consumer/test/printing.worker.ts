import { createQueueConsumer } from "../src/index.ts";
import type { AsyncContext } from "../src/run-delivery.ts";

/** Deliveries wait for each other by it. */
const gate = Promise.withResolvers<void>();

/** Makes the consumer of a Worker whose handler prints, with a wait in between for others to begin. */
export function printingConsumer(context?: AsyncContext): ReturnType<typeof createQueueConsumer> {
  const handlers = {
    async queue(batch: MessageBatch<string>, _env: unknown, ctx: ExecutionContext): Promise<void> {
      for (const message of batch.messages) {
        console.log("begun", message.body);
        await scheduler.wait(message.body.startsWith("slow") ? 200 : 10);
        if (message.body === "throws") throw new Error("thrown");
        if (message.body === "acked") continue;
        if (message.body === "waits") await Promise.race([gate.promise, scheduler.wait(5_000)]);
        if (message.body === "slow prints") gate.resolve();
        if (message.body === "text") console.error("no", message.body);
        else if (!["slow bare", "waits"].includes(message.body))
          console.error(new TypeError(`no ${message.body}`));
        if (message.body !== "slow prints") message.retry();
      }
      ctx.waitUntil(scheduler.wait(5).then(() => console.info("in the background")));
    },
  };
  return createQueueConsumer(handlers, {
    waitForWaitUntil: true,
    ...(context === undefined ? {} : { context }),
  });
}
