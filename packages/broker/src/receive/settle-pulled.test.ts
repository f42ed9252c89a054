import { DELAY_SECONDS_MAX, type PullConsumerSettings } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { pullConsumer } from "../../test/messages.ts";
import { PullClient } from "../../test/pull-client.ts";
import { World } from "../../test/world.ts";
import { encodeToken } from "./message-token.ts";

function pulled(settings: Partial<PullConsumerSettings> = {}): { world: World; client: PullClient } {
  const world = new World({
    orders: { consumer: pullConsumer(settings) },
    dead: { consumer: pullConsumer() },
    others: { consumer: pullConsumer() },
  });
  return { world, client: new PullClient(world, "orders") };
}

async function tokenOf(client: PullClient, visibilityTimeoutMs = 30_000): Promise<string> {
  const [message] = await client.pull({ max: 1, visibilityTimeoutMs });
  if (message === undefined) throw new Error("nothing was pulled");
  return message.token;
}

describe("an acknowledgement (spec cloudflare-queues 5.5)", () => {
  it("deletes its message for good", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a", "b"]);
    expect(await client.settle([await tokenOf(client)])).toEqual({
      ackCount: 1,
      retryCount: 0,
      warnings: [],
    });
    world.crash("orders");
    await world.pass(30_000);
    expect(await client.pull()).toMatchObject([{ body: "b" }]);
  });

  // conformance: late-ack
  it("a late acknowledgement counts when the message is visible again", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    const token = await tokenOf(client, 100);
    await world.pass(100);
    expect(world.core("orders").describe()).toMatchObject({ ready: 1 });
    expect(await client.settle([token])).toEqual({ ackCount: 1, retryCount: 0, warnings: [] });
    expect(await client.pull()).toEqual([]);
  });

  // conformance: late-ack
  it("a late acknowledgement counts when another client has leased the message", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    const first = await tokenOf(client, 100);
    await world.pass(100);
    const second = await tokenOf(client);
    expect(await client.settle([first])).toMatchObject({ ackCount: 1, warnings: [] });
    expect(await client.settle([second])).toEqual({
      ackCount: 0,
      retryCount: 0,
      warnings: [[second, "The message is not in the queue any more."]],
    });
  });

  it("is taken while delivery is paused: what is in flight finishes", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    const token = await tokenOf(client);
    world.queues.orders = { ...(world.queues.orders ?? expect.unreachable()), deliveryPaused: true };
    expect(await client.settle([token])).toMatchObject({ ackCount: 1 });
  });

  // conformance: ack-over-http
  it("an acknowledgement of anything else is named in the warnings, and the rest is settled", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    await world.send("others", ["b"]);
    const [own, foreign] = [await tokenOf(client), await tokenOf(new PullClient(world, "others"))];
    const made = encodeToken("orders", "lease", { leaseId: 1, segmentId: 2 ** 40, index: 7 });
    const [peeked] = await new PullClient(world, "others").peek();
    const tokens = [foreign, "nonsense", "", "__proto__", made, own, own, peeked?.token ?? ""];
    const noLease = "This is not a lease id of this queue.";
    const gone = "The message is not in the queue any more.";
    expect(await client.settle(tokens)).toEqual({
      ackCount: 1,
      retryCount: 0,
      warnings: [
        [foreign, noLease],
        ["nonsense", noLease],
        ["", noLease],
        ["__proto__", noLease],
        [made, gone],
        [own, gone],
        ["", noLease],
      ],
    });
    expect(world.core("others").describe()).toMatchObject({ leased: 1 });
  });
});

describe("a retry", () => {
  it("makes its message visible at once, or after the delay that it names", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["now", "later"]);
    const [now, later] = [await tokenOf(client), await tokenOf(client)];
    const retries = [{ leaseId: now }, { leaseId: later, delaySeconds: 60 }];
    expect(await client.settle([], retries)).toEqual({ ackCount: 0, retryCount: 2, warnings: [] });
    expect(await client.pull({ visibilityTimeoutMs: 600_000 })).toMatchObject([{ body: "now", attempts: 2 }]);
    await world.pass(59_999);
    expect(await client.pull()).toEqual([]);
    await world.pass(1);
    expect(await client.pull()).toMatchObject([{ body: "later", attempts: 2 }]);
  });

  // conformance: pull-retry-delay
  it("a retry without a delay waits for the consumer's retry_delay; 0 overrides that", async () => {
    const { world, client } = pulled({ retryDelaySeconds: 10 });
    await world.send("orders", ["default", "now"]);
    const [first, now] = [await tokenOf(client), await tokenOf(client)];
    await client.settle([], [{ leaseId: first }, { leaseId: now, delaySeconds: 0 }]);
    expect(await client.pull({ visibilityTimeoutMs: 600_000 })).toMatchObject([{ body: "now" }]);
    await world.pass(9_999);
    expect(await client.pull()).toEqual([]);
    await world.pass(1);
    expect(await client.pull()).toMatchObject([{ body: "default" }]);
  });

  it("a late retry does not count, neither when the message waits nor when another client has it", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    const token = await tokenOf(client, 100);
    world.nowMs += 100;
    const ended = [[token, "The lease has ended, so the message was not retried."]];
    const retries = [{ leaseId: token, delaySeconds: 600 }];
    expect(await client.settle([], retries)).toEqual({ ackCount: 0, retryCount: 0, warnings: ended });
    const [again] = await client.pull();
    expect(again).toMatchObject({ body: "a", attempts: 2 });
    expect(await client.settle([], retries)).toMatchObject({ retryCount: 0, warnings: ended });
    expect(await client.settle([again?.token ?? ""])).toMatchObject({ ackCount: 1 });
    expect(await client.settle([], retries)).toMatchObject({
      warnings: [[token, "The message is not in the queue any more."]],
    });
  });

  it("past max_retries moves the message to the dead-letter queue", async () => {
    const { world, client } = pulled({ maxRetries: 0, deadLetterQueue: "dead" });
    await world.send("orders", ["a"]);
    expect(await client.settle([], [{ leaseId: await tokenOf(client) }])).toMatchObject({ retryCount: 1 });
    await world.quiet();
    expect(await new PullClient(world, "dead").pull()).toMatchObject([{ body: "a", attempts: 1 }]);
  });

  it("a retry of a message that the same call acknowledges comes too late", async () => {
    const { world, client } = pulled();
    await world.send("orders", ["a"]);
    const token = await tokenOf(client);
    expect(await client.settle([token], [{ leaseId: token }])).toMatchObject({ ackCount: 1, retryCount: 0 });
  });

  it.each([
    [-1, false],
    [0, true],
    [DELAY_SECONDS_MAX, true],
    [DELAY_SECONDS_MAX + 1, false],
  ])("a retry with a delay of %i s is in range: %s", async (delaySeconds, isInRange) => {
    const { world, client } = pulled();
    await world.send("orders", ["a", "b"]);
    const [acked, retried] = [await tokenOf(client), await tokenOf(client)];
    const settled = client.settle([acked], [{ leaseId: retried, delaySeconds }]);
    if (isInRange) expect(await settled).toMatchObject({ ackCount: 1, retryCount: 1 });
    else await expect(settled).rejects.toThrow(RangeError);
    expect(world.core("orders").describe().leased).toBe(isInRange ? 0 : 2);
  });
});
