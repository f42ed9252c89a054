import { createQueueConsumer } from "@sluice/consumer";
import type { BatchReport, Verdict } from "./wire.ts";

interface ConsumerEnv {
  readonly LEDGER: Fetcher;
}

/** Shows each batch to the process that keeps the ledger, and settles it as it says. */
const handlers = {
  async queue(batch: MessageBatch<string>, env: ConsumerEnv) {
    const report: BatchReport = {
      queue: batch.queue,
      messages: batch.messages.map(({ id, attempts, body }) => ({ id, attempts, body })),
    };
    const init = { method: "POST", body: JSON.stringify(report) };
    const answer = await env.LEDGER.fetch("http://ledger/", init);
    if (!answer.ok) throw new Error(await answer.text());
    carryOut(await answer.json<Verdict>(), batch);
  },
};

function carryOut({ acks, retries, ends }: Verdict, batch: MessageBatch<string>): void {
  for (const position of acks) batch.messages[position]?.ack();
  for (const { position, delaySeconds } of retries) batch.messages[position]?.retry({ delaySeconds });
  if (ends === "acks all") batch.ackAll();
  if (ends === "retries all") batch.retryAll();
  if (ends === "throws") throw new Error("the handler was told to");
}

export const SluiceQueueConsumer = createQueueConsumer(handlers, { waitForWaitUntil: true });
export default { fetch: () => new Response("consumer") };
