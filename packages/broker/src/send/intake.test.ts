import { describe, expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";
import { UNCOMMITTED_BYTES_MAX } from "./intake.ts";

const atOnce = { maxBatchTimeoutSeconds: 0 };

describe("sends that wait for their commit", () => {
  /** Bytes of a packed message around its body. */
  const header = 40;

  it.each([
    [-1, true],
    [0, true],
    [1, false],
    // conformance: throughput-limit
  ])("are taken up to 32 MB, then refused with 10250: %i bytes over are taken: %s", async (over, taken) => {
    const world = new World({ orders: {} });
    const store = world.store("orders");
    store.hold();
    const full = "x".repeat(128_000 - header);
    const waiting = Array.from({ length: 249 }, () => world.send("orders", [full]));
    const last = world.send("orders", ["x".repeat(128_000 - header + over)]);
    if (over > -header) {
      // 250 times 128,000 bytes are the maximum to the byte.
      expect(UNCOMMITTED_BYTES_MAX).toBe(250 * 128_000);
    }
    const reply = taken
      ? { ok: true }
      : { ok: false, code: 10250, cause: "Queue is overloaded. Please back off." };
    if (taken) store.release();
    expect(await last).toMatchObject(reply);
    store.release();
    expect((await Promise.all(waiting)).every(({ ok }) => ok)).toBe(true);
  });

  it("are taken again when the commit is through", async () => {
    const world = new World({ orders: {} });
    const store = world.store("orders");
    store.hold();
    const full = "x".repeat(128_000 - header);
    const waiting = Array.from({ length: 250 }, () => world.send("orders", [full]));
    expect(await world.send("orders", [""])).toMatchObject({ ok: false, code: 10250 });
    store.release();
    await Promise.all(waiting);
    expect(await world.send("orders", [""])).toMatchObject({ ok: true, metrics: { backlogCount: 251 } });
  });
});

// conformance: send-delays
it("the delay of a message (spec 1.5) is its own, else its batch's, else the queue's delivery_delay; an explicit 0 is one's own", async () => {
  const world = new World({
    orders: { deliveryDelaySeconds: 30, consumer: consumer({ ...atOnce, maxBatchSize: 1 }) },
  });
  const begunMs = world.nowMs;
  const arrived: [string | undefined, number][] = [];
  world.handler = ({ messages: [message] }) => {
    arrived.push([message?.body, (world.nowMs - begunMs) / 1_000]);
    return {};
  };
  await world.send("orders", ["own", "batch", "now"], { delaySeconds: 20, ownDelays: [10, undefined, 0] });
  await world.send("orders", ["queue"]);
  await world.sendAndPass("orders", ["batch now"], 60_000, { delaySeconds: 0 });
  expect(arrived).toEqual([
    ["now", 0],
    ["batch now", 0],
    ["own", 10],
    ["batch", 20],
    ["queue", 30],
  ]);
});
