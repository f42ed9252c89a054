import { Handled } from "../../src/workload/handled.ts";
import { type Payload, payload } from "../../src/workload/payload.ts";
import { runWay } from "../../src/workload/run.ts";
import { SENDERS, sendFromLoops, type Target, type Way } from "../../src/workload/ways.ts";

interface Env {
  /** Queue that is consumed in batches of 100. */
  BENCH: Queue<Payload>;
  /** Queue that is consumed at once: `max_batch_timeout = 0`. */
  BENCH_NOW: Queue<Payload>;
  /** This Worker: each call is another request. */
  SELF: Fetcher;
}

const handled = new Handled();
/** Reads the clock, which ticks in whole milliseconds in workerd, as `performance.now()` does. */
const now = () => Date.now();

function targetOf(env: Env): Target {
  return {
    send: (payload) => env.BENCH.send(payload),
    sendHundred: (payloads) => env.BENCH.sendBatch(payloads.map((body) => ({ body }))),
    async sendFromRequests(requests, messages) {
      const each = Math.ceil(messages / requests);
      const shares = Array.from({ length: requests }, (_, i) => Math.min(each, messages - i * each));
      const times = await Promise.all(
        shares
          .filter((share) => share > 0)
          .map(async (share) => {
            const response = await env.SELF.fetch(`http://self/?sender=${share}`);
            return (await response.json()) as number[];
          }),
      );
      return times.flat();
    },
    async sendAndAwait(payload) {
      const { count } = handled;
      await env.BENCH_NOW.send(payload);
      await handled.reached(count + 1);
    },
  };
}

function isWay(text: string | null): text is Way {
  return text !== null && Object.hasOwn(SENDERS, text);
}

export default {
  async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    const share = Number(searchParams.get("sender"));
    if (share > 0) {
      return Response.json(await sendFromLoops(1, share, () => env.BENCH.send(payload(now())), now));
    }
    const way = searchParams.get("way");
    const messages = Number(searchParams.get("messages"));
    if (!isWay(way) || !(messages > 0)) {
      return new Response("?way=… and ?messages=… are needed", { status: 400 });
    }
    return Response.json(await runWay(way, messages, targetOf(env), handled, now));
  },

  async queue(batch) {
    const nowMs = now();
    for (const { body } of batch.messages) handled.note(body.sentMs, nowMs);
  },
} satisfies ExportedHandler<Env, Payload>;
