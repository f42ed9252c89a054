import type { BatchReport, Verdict } from "../wire.ts";

interface ConsumerEnv {
  readonly LEDGER: Fetcher;
}

/** An ordinary consumer: reports each batch to the process that keeps the ledger, and settles it by the answer. */
export default {
  async fetch(_request, env) {
    return env.LEDGER.fetch("http://ledger/reached");
  },

  async queue(batch: MessageBatch<string>, env: ConsumerEnv) {
    const report: BatchReport = {
      queue: batch.queue,
      messages: batch.messages.map(({ id, attempts, body }) => ({ id, attempts, body })),
    };
    const answer = await env.LEDGER.fetch("http://ledger/", { method: "POST", body: JSON.stringify(report) });
    if (!answer.ok) throw new Error(await answer.text());
    const { acks, retries, ends } = await answer.json<Verdict>();
    for (const position of acks) batch.messages[position]?.ack();
    for (const { position, delaySeconds } of retries) batch.messages[position]?.retry({ delaySeconds });
    if (ends === "acks all") batch.ackAll();
    if (ends === "retries all") batch.retryAll();
    if (ends === "throws") throw new Error("the handler was told to");
  },
} satisfies ExportedHandler<ConsumerEnv, string>;
