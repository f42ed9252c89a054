import { PULL_MESSAGES_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { pullConsumer } from "../../test/messages.ts";
import { PullClient } from "../../test/pull-client.ts";
import { World } from "../../test/world.ts";

function peeked(): { world: World; client: PullClient } {
  const world = new World({ orders: { consumer: pullConsumer() }, others: {} });
  return { world, client: new PullClient(world, "orders") };
}

describe("a peek (spec cloudflare-queues 5.2)", () => {
  it("shows what waits by the time it is due, delayed messages too, and leases nothing", async () => {
    const { world, client } = peeked();
    await world.send("orders", ["later"], { delaySeconds: 60 });
    await world.send("orders", ["a", "b"]);
    const rows = world.store("orders").rowsWritten;
    const expected = [
      { body: "a", attempts: 0 },
      { body: "b", attempts: 0 },
      { body: "later", attempts: 0 },
    ];
    expect(await client.peek()).toMatchObject(expected);
    expect(await client.peek()).toMatchObject(expected);
    expect(await client.peek(1)).toMatchObject([{ body: "a" }]);
    expect(world.store("orders").rowsWritten).toBe(rows);
    expect(world.core("orders").describe()).toMatchObject({ ready: 2, delayed: 1, leased: 0 });
  });

  it("needs no pull consumer, and answers of an empty queue", async () => {
    const { world } = peeked();
    await world.send("others", ["a"]);
    expect(await new PullClient(world, "others").peek()).toMatchObject([{ body: "a" }]);
    expect(await new PullClient(world, "orders").peek()).toEqual([]);
  });

  it.each([
    [0, false],
    [1, true],
    [PULL_MESSAGES_MAX, true],
    [PULL_MESSAGES_MAX + 1, false],
  ])("a peek at %i messages is in range: %s", async (max, isInRange) => {
    const { client } = peeked();
    if (isInRange) expect(await client.peek(max)).toEqual([]);
    else await expect(client.peek(max)).rejects.toThrow(RangeError);
  });
});

describe("a purge by refs", () => {
  it("deletes the messages, durably, those that are leased by now too", async () => {
    const { world, client } = peeked();
    await world.send("orders", ["a", "b", "c"]);
    const [a, b] = await client.peek();
    const [leased] = await client.pull({ max: 1 });
    expect(leased).toMatchObject({ body: "a" });
    expect(await client.deleteByRefs([a?.token ?? "", b?.token ?? ""])).toEqual({ deleted: 2, warnings: [] });
    world.crash("orders");
    await world.pass(30_000);
    expect(await client.pull()).toMatchObject([{ body: "c" }]);
    expect(await client.settle([leased?.token ?? ""])).toMatchObject({ ackCount: 0 });
  });

  it("names refs that are none, and those of messages that are gone", async () => {
    const { world, client } = peeked();
    await world.send("orders", ["a"]);
    const [a] = await client.peek();
    const ref = a?.token ?? "";
    const [pulled] = await client.pull();
    const lease = pulled?.token ?? "";
    expect(await client.deleteByRefs(["nonsense", lease, ref, ref])).toEqual({
      deleted: 1,
      warnings: [
        ["nonsense", "This is not a ref of this queue."],
        [lease, "This is not a ref of this queue."],
        [ref, "The message is not in the queue any more."],
      ],
    });
  });
});
