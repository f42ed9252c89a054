/** What one run measured. Rates are messages a second, latencies milliseconds. */
interface Report {
  readonly messages: number;
  readonly sendPerSecond: number;
  /** From the first send to the last message handled. */
  readonly handledPerSecond: number;
  /** How long one call took. */
  readonly callP50Ms: number;
  readonly callP99Ms: number;
  /** From the send of a message to its `queue()` call. */
  readonly endToEndP50Ms: number;
  readonly endToEndP99Ms: number;
}

interface Env {
  BENCH: Queue<Payload>;
}

interface Payload {
  readonly sentMs: number;
  readonly text: string;
}

/** A body is 200 bytes of JSON. */
const PADDING = "x".repeat(200 - JSON.stringify({ sentMs: 1_700_000_000_000.123, text: "" }).length);
const DRAIN_POLL_MS = 1;

let handled = 0;
let endToEndMs: number[] = [];

const payload = (): Payload => ({ sentMs: Date.now(), text: PADDING });

/** Each way to send `n` messages; reports how long each call took. */
const WAYS: Record<string, (env: Env, n: number, took: (ms: number) => void) => Promise<void>> = {
  async single(env, n, took) {
    for (let i = 0; i < n; i++) await timed(took, () => env.BENCH.send(payload()));
  },
  async concurrent50(env, n, took) {
    await inParallel(50, n, () => timed(took, () => env.BENCH.send(payload())));
  },
  async concurrent500(env, n, took) {
    await inParallel(500, n, () => timed(took, () => env.BENCH.send(payload())));
  },
  async batch100(env, n, took) {
    for (let i = 0; i < n; i += 100) await timed(took, () => env.BENCH.sendBatch(hundred()));
  },
  async batch100parallel10(env, n, took) {
    await inParallel(10, n / 100, () => timed(took, () => env.BENCH.sendBatch(hundred())));
  },
};

export default {
  async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    const way = WAYS[searchParams.get("way") ?? ""];
    const n = Number(searchParams.get("n"));
    if (way === undefined || !(n > 0)) return new Response("?way=… and ?n=… are needed", { status: 400 });
    handled = 0;
    endToEndMs = [];
    const callMs: number[] = [];
    const startMs = performance.now();
    await way(env, n, (ms) => callMs.push(ms));
    const sentMs = performance.now();
    while (handled < n) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    const doneMs = performance.now();
    return Response.json({
      messages: n,
      sendPerSecond: (1000 * n) / (sentMs - startMs),
      handledPerSecond: (1000 * n) / (doneMs - startMs),
      callP50Ms: percentile(callMs, 0.5),
      callP99Ms: percentile(callMs, 0.99),
      endToEndP50Ms: percentile(endToEndMs, 0.5),
      endToEndP99Ms: percentile(endToEndMs, 0.99),
    } satisfies Report);
  },

  async queue(batch) {
    const nowMs = Date.now();
    for (const message of batch.messages) endToEndMs.push(nowMs - message.body.sentMs);
    handled += batch.messages.length;
  },
} satisfies ExportedHandler<Env, Payload>;

function hundred(): MessageSendRequest<Payload>[] {
  return Array.from({ length: 100 }, () => ({ body: payload() }));
}

async function timed(took: (ms: number) => void, call: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  await call();
  took(performance.now() - startMs);
}

async function inParallel(senders: number, n: number, send: () => Promise<void>): Promise<void> {
  let left = n;
  const sender = async () => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: senders }, sender));
}

function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
