import { type DeliveryResult, packMessages, type QueueConsumerRpc } from "@sluice/protocol";
import type { Trial } from "./program-arbitrary.ts";

/** Delivers the same batches by workerd's own dispatch and by ours, and answers with what both report. */

interface NativeConsumer {
  queue(name: string, messages: readonly object[], metadata: object): Promise<DeliveryResult>;
}

type Bindings = Readonly<Record<string, NativeConsumer & QueueConsumerRpc>>;

const TIMESTAMP_MS = 1_700_000_000_000;
const METRICS = { backlogCount: 3, backlogBytes: 40 };

export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    const consumer = new URL(request.url).searchParams.get("consumer");
    const native = env[`NATIVE_${consumer}`];
    const ours = env[`OURS_${consumer}`];
    if (native === undefined || ours === undefined) throw new Error(`no consumer "${consumer}"`);
    const trials: Trial[] = await request.json();
    const results: unknown[] = [];
    for (const [i, { program, ids }] of trials.entries()) {
      const name = JSON.stringify(program);
      // On the stream of the runtime's own warnings, to tell whose they are.
      console.warn(`@@ ${i} native`);
      const byNative = await native.queue(
        name,
        ids.map((id) => ({ id, timestamp: TIMESTAMP_MS, attempts: 1, body: "body" })),
        { metrics: { ...METRICS, oldestMessageTimestamp: TIMESTAMP_MS } },
      );
      console.warn(`@@ ${i} ours`);
      const byOurs = await ours.deliver({
        queue: name,
        packed: packMessages(
          ids.map((id) => ({ id, timestampMs: TIMESTAMP_MS, contentType: "text", body: BODY })),
        ),
        attempts: 1,
        metrics: { ...METRICS, oldestMessageTimestampMs: TIMESTAMP_MS },
      });
      console.warn(`@@ ${i} end`);
      results.push([byNative, byOurs]);
    }
    return Response.json(results);
  },
};

const BODY = new TextEncoder().encode("body");
