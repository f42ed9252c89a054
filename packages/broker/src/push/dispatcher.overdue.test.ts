import { type DeliveryResult, HANDLER_WALL_CLOCK_MS_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { alerted, told } from "../../test/world-alerts.ts";
import { LEASE_GRACE_MS } from "../turn/rules.ts";

const MINUTE_MS = 60_000;

/** One message at a time, as soon as it is there. */
const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 };
const hanging = () => new Promise<never>(() => {});

function worldWith(settings: Parameters<typeof consumer>[0]): World {
  return new World({ orders: { consumer: consumer(settings) } });
}

const OVERDUE =
  'error: Queue "orders": the handler of "consumer" did not finish within 900 s; messages that it had not settled are retried';
const RETRIED =
  /^info: Retrying message ".*" on queue "orders" in 60 s \(attempt 1 of 4\): its handler did not finish within 900 s; where it was is not known$/;

// conformance: wall-clock-limit
describe("a handler that exceeds 15 minutes", () => {
  it.each([
    [HANDLER_WALL_CLOCK_MS_MAX - 1, ["QUEUE 1/1"]],
    [HANDLER_WALL_CLOCK_MS_MAX, [OVERDUE]],
    [HANDLER_WALL_CLOCK_MS_MAX + 1, [OVERDUE]],
  ])("is ended; one that answers after %i ms leaves: %j", async (ms, expected) => {
    const world = worldWith({ ...one, retryDelaySeconds: 60 });
    const answer = Promise.withResolvers<Partial<DeliveryResult>>();
    world.handler = () => answer.promise;
    await world.sendAndPass("orders", ["a"], ms);
    answer.resolve({});
    await world.pass(0);
    const handled = world.handled.filter(([, acked]) => acked > 0);
    expect([
      ...handled.map(([, acked, total]) => `QUEUE ${acked}/${total}`),
      ...world.lines.slice(0, 1),
    ]).toEqual(expected);
  });

  it("loses its slot, its messages are retried, and what it reports later is ignored", async () => {
    const world = worldWith({ ...one, retryDelaySeconds: 60 });
    const late = Promise.withResolvers<Partial<DeliveryResult>>();
    world.handler = (batch) => (batch.messages[0]?.body === "slow" ? late.promise : {});
    await world.sendAndPass("orders", ["slow", "next"], 15 * MINUTE_MS - 1);
    expect(bodiesOf(world.seen)).toEqual([["slow"]]);
    await world.pass(1);
    expect(bodiesOf(world.seen)).toEqual([["slow"], ["next"]]);
    expect(world.lines).toEqual([OVERDUE, expect.stringMatching(RETRIED)]);
    world.handler = () => ({ outcome: "exception" });
    await world.pass(MINUTE_MS);
    expect(world.seen[2]?.messages).toMatchObject([{ body: "slow", attempts: 2 }]);
    const handled = world.handled.length;
    late.resolve({ ackAll: true });
    await world.pass(0);
    expect(world.handled).toHaveLength(handled);
    expect(world.core("orders").metrics().backlogCount).toBe(1);
    expect(world.core("orders").queue.push.inFlight).toBe(0);
  });

  // conformance: wall-clock-limit
  it("keeps its explicit acknowledgements", async () => {
    const world = worldWith({ maxBatchSize: 3, retryDelaySeconds: 60 });
    world.handler = hanging;
    world.callsOf = async () => ({
      ackAll: false,
      retryBatch: { retry: false },
      explicitAcks: world.seen[0]?.messages.slice(0, 2).map(({ id }) => id) ?? [],
      retryMessages: [],
    });
    await world.sendAndPass("orders", ["a", "b", "c"], 17 * MINUTE_MS);
    expect(world.handled).toEqual([["orders", 2, 3]]);
    expect(bodiesOf(world.seen)).toEqual([["a", "b", "c"], ["c"]]);
  });

  it("is its message's last attempt like any other", async () => {
    const world = worldWith({ ...one, maxRetries: 0 });
    world.handler = hanging;
    await world.sendAndPass("orders", ["slow"], 15 * MINUTE_MS);
    expect(world.lines[1]).toMatch(
      /^warn: Dropped message .* after 1 failed attempt\(s\): its handler did not finish within 900 s; where it was is not known$/,
    );
    expect([...world.store("orders").segments()]).toEqual([]);
  });

  it("is retried when its lease ends, should its consumer never say what it did", async () => {
    const world = worldWith(one);
    world.handler = hanging;
    world.callsOf = hanging;
    await world.sendAndPass("orders", ["a"], HANDLER_WALL_CLOCK_MS_MAX + LEASE_GRACE_MS - 1);
    expect(world.seen).toHaveLength(1);
    await world.pass(1);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 2]);
    expect(world.core("orders").queue.push.inFlight).toBe(1);
  });

  it("counts as a failure of its consumer, should that never say what it did", async () => {
    const world = alerted(
      { orders: { consumer: consumer({ ...one, retryDelaySeconds: 0 }) } },
      { failures: { share: 0.5, deliveries: 2 } },
    );
    world.handler = hanging;
    world.callsOf = hanging;
    await world.sendAndPass("orders", ["a"], HANDLER_WALL_CLOCK_MS_MAX + LEASE_GRACE_MS);
    expect(world.core("orders").dispatcher.health).toMatchObject({
      consecutiveFailures: 1,
      lastDelivery: { failure: "its lease has ended", acked: 0, messages: 1 },
    });
    expect(told(world)).toEqual([]);
    await world.pass(HANDLER_WALL_CLOCK_MS_MAX + LEASE_GRACE_MS);
    expect(world.core("orders").dispatcher.health).toMatchObject({ consecutiveFailures: 2 });
    await expect.poll(() => told(world)).toEqual(["alert.begun orders failures"]);
  });

  it("is released uncounted when its Worker has gone meanwhile", async () => {
    const world = worldWith(one);
    world.handler = hanging;
    await world.sendAndPass("orders", ["a"], MINUTE_MS);
    world.running = false;
    await world.pass(20 * MINUTE_MS);
    world.running = true;
    await world.pass(MINUTE_MS);
    expect(world.seen.map((batch) => batch.messages[0]?.attempts)).toEqual([1, 1]);
  });

  it("does not end deliveries beside it that began later", async () => {
    const world = worldWith({ ...one, maxConcurrency: 2 });
    world.handler = hanging;
    await world.send("orders", ["first", "second"]);
    world.core("orders").queue.push.target = 2;
    await world.pass(MINUTE_MS);
    await world.core("orders").wake();
    await world.pass(14 * MINUTE_MS);
    expect(world.lines.filter((line) => line.startsWith("error"))).toEqual([OVERDUE]);
    expect(world.core("orders").queue.push.inFlight).toBe(2);
  });
});
