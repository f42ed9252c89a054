import type { DeliveryResult } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { World, worldWithHistory } from "../../test/world.ts";

/** Sends bodies, lets the consumer answer once, and lets it acknowledge everything from then on. */
async function deliverOnce(
  bodies: readonly string[],
  answer: (ids: string[]) => Partial<DeliveryResult>,
  settings: Parameters<typeof consumer>[0] = {},
): Promise<World> {
  const world = new World({
    orders: { consumer: consumer({ maxBatchSize: 100, maxBatchTimeoutSeconds: 0, ...settings }) },
  });
  world.handler = (batch) => {
    world.handler = () => ({});
    return answer(batch.messages.map(({ id }) => id));
  };
  await world.send("orders", bodies);
  await world.quiet();
  return world;
}

/** Bodies and attempts of what was delivered after the first batch. */
function later(world: World): [body: string, attempts: number][] {
  return world.seen
    .slice(1)
    .flatMap(({ messages }) => messages.map(({ body, attempts }): [string, number] => [body, attempts]));
}

describe("settling a batch (spec 2.4)", () => {
  it("acknowledges all of it when the handler returns", async () => {
    const world = await deliverOnce(["a", "b"], () => ({}));
    expect(world.handled).toEqual([["orders", 2, 2]]);
    expect([...world.store("orders").segments()]).toEqual([]);
  });

  it("retries all of it with the consumer's retry_delay when the handler throws", async () => {
    const answer = () => ({ outcome: "exception", error: "TypeError: no such order" });
    const world = await deliverOnce(["a", "b"], answer, { retryDelaySeconds: 30 });
    expect(world.handled).toEqual([["orders", 0, 2]]);
    const [first, second] = world.seen[0]?.messages ?? [];
    expect(world.lines).toEqual(
      [first, second].map(
        (message) =>
          `info: Retrying message "${message?.id}" on queue "orders" in 30 s ` +
          "(attempt 1 of 4): TypeError: no such order",
      ),
    );
    await world.pass(29_999);
    expect(later(world)).toEqual([]);
    await world.pass(1);
    expect(later(world)).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
  });

  it("keeps explicit acknowledgements of a handler that throws later", async () => {
    const world = await deliverOnce(["a", "b", "c"], (ids) => ({
      outcome: "exception",
      explicitAcks: ids.slice(1, 2),
    }));
    await world.pass(0);
    expect(later(world)).toEqual([
      ["a", 2],
      ["c", 2],
    ]);
    expect(world.handled[0]).toEqual(["orders", 1, 3]);
  });

  it("settles every message by its own call: acknowledged, retried now, retried later", async () => {
    const world = await deliverOnce(["acked", "now", "later", "acked too"], ([, now, late]) => ({
      retryMessages: [{ msgId: now ?? "" }, { msgId: late ?? "", delaySeconds: 60 }],
    }));
    await world.pass(0);
    expect(later(world)).toEqual([["now", 2]]);
    expect(world.lines.map((line) => / on queue .*$/.exec(line)?.[0])).toEqual([
      ' on queue "orders" now (attempt 1 of 4): its handler asked for it',
      ' on queue "orders" in 60 s (attempt 1 of 4): its handler asked for it',
    ]);
    await world.pass(60_000);
    expect(later(world)).toEqual([
      ["now", 2],
      ["later", 2],
    ]);
    expect(world.handled[0]).toEqual(["orders", 2, 4]);
  });

  it("retries the whole batch on retryAll, acknowledges all of it on ackAll although the handler threw", async () => {
    const retried = await deliverOnce(["a", "b"], () => ({ retryBatch: { retry: true, delaySeconds: 0 } }));
    await retried.pass(0);
    expect(later(retried)).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
    const acked = await deliverOnce(["a", "b"], () => ({ outcome: "exception", ackAll: true }));
    await acked.pass(60_000);
    expect(later(acked)).toEqual([]);
  });

  it.each([
    [-1, 0],
    [86_401, 86_400],
  ])("uses for a retry delay of %i s the nearest one that there is, and says so", async (asked, used) => {
    const world = await deliverOnce(["a"], ([id]) => ({
      retryMessages: [{ msgId: id ?? "", delaySeconds: asked }],
    }));
    expect(world.lines[0]).toBe(
      `warn: Queue "orders": a retry delay of ${asked} s is not within 0 to 86400, ${used} s is used`,
    );
    // A batch of one waits for its batch timeout.
    await world.pass(1000 * used + 5_000);
    expect(later(world)[0]).toEqual(["a", 2]);
  });

  it("goes by the ids of a batch that several segments and attempts make up", async () => {
    const world = new World({
      orders: { consumer: consumer({ maxBatchSize: 4, maxBatchTimeoutSeconds: 5 }) },
    });
    world.handler = () => ({ outcome: "exception" });
    await world.sendAndPass("orders", ["old 1", "old 2"], 5_000);
    await world.send("orders", ["new 1"], { delaySeconds: 1 });
    await world.send("orders", ["new 2"]);
    world.handler = (batch) => ({
      retryMessages: batch.messages
        .filter(({ body }) => body === "old 2" || body === "new 1")
        .map(({ id }) => ({ msgId: id, delaySeconds: 60 })),
    });
    await world.pass(1_000);
    expect(world.seen[1]?.messages.map(({ body }) => body)).toEqual(["old 1", "old 2", "new 2", "new 1"]);
    expect(world.handled[1]).toEqual(["orders", 2, 4]);
    world.handler = () => ({});
    await world.pass(65_000);
    expect(world.seen[2]?.messages.map(({ body, attempts }) => [body, attempts])).toEqual([
      ["old 2", 3],
      ["new 1", 2],
    ]);
  });

  it("settles each message by its own verdict, in every mixture and wherever in its segment it lies", async () => {
    const kinds = ["acknowledged", "retried", "retried later"];
    for (let mixture = 0; mixture < kinds.length ** 5; mixture++) {
      const verdicts = Array.from(
        { length: 5 },
        (_, i) => kinds[Math.floor(mixture / kinds.length ** i) % kinds.length],
      );
      const settings = consumer({ maxBatchSize: 5, maxBatchTimeoutSeconds: 0 });
      const world = new World({ orders: { consumer: settings } });
      const core = world.core("orders");
      // Three messages of a segment behind two that are gone, and two of another segment.
      await world.send("orders", ["gone", "gone", "a", "b", "c"], { ownDelays: [0, 0, 1, 1, 1] });
      core.queue.tails.length = 0;
      await world.sendAndPass("orders", ["d", "e"], 0, { delaySeconds: 1 });
      world.handler = ({ messages }) => ({
        retryMessages: messages.flatMap(({ id, body }) => {
          const verdict = verdicts["abcde".indexOf(body)];
          if (verdict === undefined || verdict === "acknowledged") return [];
          return [{ msgId: id, delaySeconds: verdict === "retried" ? 0 : 60 }];
        }),
      });
      await world.pass(999);
      expect(bodiesOf(world.seen)).toEqual([["gone", "gone"]]);
      const { handler } = world;
      world.handler = (batch) => {
        world.handler = () => ({});
        return handler(batch);
      };
      await world.pass(1);
      const [, together, ...again] = bodiesOf(world.seen);
      expect(together).toEqual(["a", "b", "c", "d", "e"]);
      const now = again.flat();
      const between = world.seen.length;
      await world.pass(60_000);
      const later = bodiesOf(world.seen.slice(between)).flat();
      const wanted = (verdict: string) => [..."abcde"].filter((_, i) => verdicts[i] === verdict);
      expect([now, later]).toEqual([wanted("retried"), wanted("retried later")]);
      expect(core.metrics().backlogCount).toBe(0);
    }
  });

  it("names the message that it retries, wherever in its segment it lies", async () => {
    const world = new World({
      orders: { consumer: consumer({ maxBatchSize: 2, maxBatchTimeoutSeconds: 0 }) },
    });
    world.handler = ({ messages }) => ({
      retryMessages: messages
        .filter(({ body, attempts }) => body === "d" && attempts === 1)
        .map(({ id }) => ({ msgId: id, delaySeconds: 60 })),
    });
    await world.sendAndPass("orders", ["a", "b", "c", "d"]);
    const id = world.seen[1]?.messages[1]?.id;
    expect(world.lines).toEqual([
      expect.stringContaining(`Retrying message "${id}" on queue "orders" in 60 s`),
    ]);
  });

  it("says how long the handler took", async () => {
    const world = new World({ orders: { consumer: consumer({ maxBatchSize: 1 }) } });
    const done = Promise.withResolvers<object>();
    world.handler = () => done.promise;
    await world.sendAndPass("orders", ["a"], 300);
    done.resolve({});
    await world.quiet();
    expect(world.tookMs).toEqual([300]);
  });

  it.each<[string, (ids: string[]) => Partial<DeliveryResult>]>([
    ["acknowledges everything", () => ({})],
    ["retries everything", () => ({ retryBatch: { retry: true } })],
    ["retries each message", (ids) => ({ retryMessages: ids.map((msgId) => ({ msgId })) })],
    [
      "retries one message with a delay",
      (ids) => ({ retryMessages: [{ msgId: ids[0] ?? "", delaySeconds: 9 }] }),
    ],
    ["throws", () => ({ outcome: "exception" })],
    ["throws after an acknowledgement", (ids) => ({ outcome: "exception", explicitAcks: ids.slice(1) })],
  ])("counts once how long a delivery took whose handler %s", async (_what, answer) => {
    const world = worldWithHistory({ orders: { consumer: consumer({ retryDelaySeconds: 60 }) } });
    const done = Promise.withResolvers<Partial<DeliveryResult>>();
    world.handler = () => done.promise;
    await world.sendAndPass("orders", ["a", "b", "c"], 0);
    await world.pass(10_000);
    const ids = world.seen[0]?.messages.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(3);
    await world.pass(300);
    done.resolve(answer(ids));
    await world.quiet();
    const { history } = world.core("orders");
    const { took } = history.figures({ window: "1h" });
    expect([took.longestMs, took.tookMs, history.tookMs]).toEqual([
      expect.any(Number),
      history.tookMs,
      took.tookMs,
    ]);
    expect(took.tookMs.reduce((sum, count) => sum + count, 0)).toBe(1);
  });
});

describe("concurrency after a batch (spec 4)", () => {
  it.each<[string, Partial<DeliveryResult>, boolean]>([
    ["a handler that returns", {}, false],
    [
      "a handler that asks for a retry of everything",
      { retryBatch: { retry: true, delaySeconds: 60 } },
      false,
    ],
    ["a handler that throws", { outcome: "exception" }, true],
    ["a handler that is ended", { outcome: "exceededMemory" }, true],
  ])("a batch of %s counts as failed: %s", async (_what, answer, failed) => {
    const world = await deliverOnce(["a"], () => answer, { retryDelaySeconds: 60 });
    expect(world.core("orders").queue.push.failures).toEqual([failed]);
  });

  it("starts one delivery more after each batch while whole batches wait, up to max_concurrency", async () => {
    const world = new World({
      orders: { consumer: consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 3 }) },
    });
    const finish: (() => void)[] = [];
    world.handler = () => new Promise((resolve) => finish.push(() => resolve({})));
    await world.send("orders", Array<string>(20).fill("x"));
    const running: number[] = [];
    for (let round = 0; round < 5; round++) {
      await world.quiet();
      running.push(world.core("orders").queue.push.inFlight);
      finish.shift()?.();
    }
    expect(running).toEqual([1, 2, 3, 3, 3]);
  });
});
