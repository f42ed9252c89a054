import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";

/*
 * Consumer concurrency (spec cloudflare-queues 4) on the virtual clock, with handlers that take time.
 */

interface Load {
  readonly arrivalsPerSecond: number;
  readonly handlerMs: number;
  readonly seconds: number;
  readonly maxConcurrency?: number | null;
  readonly outcome?: (batch: number) => "ok" | "exception" | "retried";
}

/** Runs a queue with batches of 100 and answers with how many invocations ran at the end of each second. */
async function invocations({ arrivalsPerSecond, handlerMs, seconds, ...rest }: Load): Promise<number[]> {
  const settings = { maxBatchSize: 100, maxRetries: 100, maxConcurrency: rest.maxConcurrency ?? null };
  const world = new World({ orders: { consumer: consumer(settings) } });
  const ends: { atMs: number; end: () => void }[] = [];
  let batches = 0;
  world.handler = async () => {
    batches += 1;
    const outcome = rest.outcome?.(batches) ?? "ok";
    await new Promise<void>((resolve) => ends.push({ atMs: world.nowMs + handlerMs, end: resolve }));
    return outcome === "retried" ? { retryBatch: { retry: true } } : { outcome };
  };
  const running: number[] = [];
  for (let tenth = 0; tenth < 10 * seconds; tenth++) {
    await world.sendAndPass("orders", Array<string>(arrivalsPerSecond / 10).fill("x"), 100);
    for (const { end } of ends.filter(({ atMs }) => atMs <= world.nowMs)) end();
    ends.splice(0, ends.length, ...ends.filter(({ atMs }) => atMs > world.nowMs));
    await world.pass(0);
    if (tenth % 10 === 9) running.push(world.core("orders").queue.push.inFlight);
  }
  return running;
}

describe("consumer concurrency", () => {
  // conformance: concurrency-by-load
  it("settles near 5 when 100 messages a second arrive and a batch of 100 takes 5 s", async () => {
    const running = await invocations({ arrivalsPerSecond: 100, handlerMs: 5_000, seconds: 180 });
    const settled = running.slice(-60);
    expect(Math.min(...settled)).toBeGreaterThanOrEqual(4);
    expect(Math.max(...settled)).toBeLessThanOrEqual(6);
  });

  it("begins with one invocation and grows step by step", async () => {
    const running = await invocations({ arrivalsPerSecond: 100, handlerMs: 5_000, seconds: 12 });
    expect(running.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
    expect(Math.max(...running)).toBeLessThanOrEqual(4);
  });

  it.each([1, 3])(
    // conformance: concurrency-limit
    "a consumer with max_concurrency = %i never runs more, however much waits",
    async (maxConcurrency) => {
      const running = await invocations({
        arrivalsPerSecond: 200,
        handlerMs: 2_000,
        seconds: 40,
        maxConcurrency,
      });
      expect(Math.max(...running)).toBe(maxConcurrency);
    },
  );

  // conformance: concurrency-and-failures
  it("shrinks to one invocation when they fail, and grows again when they do not", async () => {
    // The first 40 end well, the next 60 throw.
    const outcome = (batch: number) => (batch > 40 && batch <= 100 ? "exception" : "ok");
    const running = await invocations({ arrivalsPerSecond: 200, handlerMs: 2_000, seconds: 150, outcome });
    expect(Math.max(...running.slice(0, 20))).toBeGreaterThanOrEqual(4);
    expect(Math.max(...running.slice(50, 100))).toBe(1);
    expect(Math.max(...running.slice(-20))).toBeGreaterThanOrEqual(4);
  });

  // conformance: concurrency-and-failures
  it("does not take an explicit retry for a failure", async () => {
    const always = await invocations({
      arrivalsPerSecond: 100,
      handlerMs: 2_000,
      seconds: 40,
      outcome: () => "retried",
    });
    const failing = await invocations({
      arrivalsPerSecond: 100,
      handlerMs: 2_000,
      seconds: 40,
      outcome: () => "exception",
    });
    expect(Math.max(...always)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...failing)).toBe(1);
  });
});
