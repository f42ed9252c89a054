import { PackedIndex, type ReceiveReply } from "@sluice/protocol";
import { expect, it } from "vitest";
import { FakeQueue, packed } from "../../test/fake-queue.ts";

const QUEUE = "orders";
const WAIT = { max: 2, waitMs: 20_000, receiverId: "r" };

/** A queue with shards, which its caller knows. */
async function sharded(shards: number) {
  const world = new FakeQueue(QUEUE);
  if (shards > 1) world.open(shards);
  const queue = world.of();
  await queue.metrics(QUEUE);
  return { world, queue };
}

/** Puts messages into a shard. */
function put(world: FakeQueue, shard: number, count = 1): void {
  world.shard(shard).store(new PackedIndex(packed(...Array.from({ length: count }, () => ({})))));
}

/** Waits until a receive waits at so many shards. */
async function waitsAt(world: FakeQueue, count: number): Promise<void> {
  await expect.poll(() => world.shards.filter(({ waiting }) => waiting.length > 0).length).toBe(count);
}

const waits = (world: FakeQueue) => world.shards.flatMap(({ waiting }) => waiting);
const leased = (world: FakeQueue) => world.messages.filter(({ lease }) => lease !== null);

it("a receive waits at all shards, and the first that has messages wins", async () => {
  const { world, queue } = await sharded(3);
  const received = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 3);
  put(world, 2);
  const reply = await received;
  expect(reply).toMatchObject({ kind: "received", receipts: [expect.stringMatching(/-2$/)] });
  expect(waits(world)).toEqual([]);
  expect(leased(world)).toHaveLength(1);
});

it("messages of shards that come second are released, and do not count as received", async () => {
  const { world, queue } = await sharded(3);
  for (const shard of [0, 1, 2]) put(world, shard, 3);
  const reply = await queue.receive(QUEUE, WAIT);
  expect(reply).toMatchObject({ kind: "received", receiveCounts: [1, 1] });
  expect(leased(world)).toHaveLength(2);
  expect(world.messages.filter(({ receives }) => receives > 0)).toHaveLength(2);
});

it("a receive is empty when the wait has ended at all shards", async () => {
  const { world, queue } = await sharded(3);
  const received = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 3);
  for (const shard of [0, 1]) world.shard(shard).endWaits();
  await waitsAt(world, 1);
  world.shard(2).endWaits();
  expect(await received).toEqual({ kind: "empty" });
});

it("a receive whose caller goes away ends at all shards", async () => {
  const { world, queue } = await sharded(3);
  const received = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 3);
  await queue.cancelReceive(QUEUE, "r");
  expect(await received).toEqual({ kind: "empty" });
  expect(waits(world)).toEqual([]);
});

it("a receive that is cancelled does not begin anew by a later map", async () => {
  const { world, queue } = await sharded(2);
  let isCancelled = false;
  world.beforeCall = (_, method) => {
    if (method !== "receive" || isCancelled) return;
    isCancelled = true;
    world.open(3);
    void queue.cancelReceive(QUEUE, "r");
  };
  expect(await queue.receive(QUEUE, WAIT)).toEqual({ kind: "empty" });
  await expect.poll(() => waits(world)).toEqual([]);
});

it("a receive begins anew at the shards of a later map, and waits at none of them twice", async () => {
  const { world, queue } = await sharded(2);
  world.open(4);
  const received = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 4);
  expect(waits(world)).toHaveLength(4);
  put(world, 3);
  expect(await received).toMatchObject({ kind: "received", receipts: [expect.stringMatching(/-3$/)] });
});

it("a receive of which a shard fails gets what another has, and is an error where none has anything", async () => {
  const { world, queue } = await sharded(3);
  world.beforeCall = (name, method) => {
    if (name === "orders#1" && method === "receive") throw new Error("away");
  };
  const first = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 2);
  put(world, 2);
  expect((await first).kind).toBe("received");
  const second = queue.receive(QUEUE, WAIT);
  await waitsAt(world, 2);
  for (const shard of [0, 2]) world.shard(shard).endWaits();
  await expect(second).rejects.toThrow("away");
});

it("a receive that repeats an attempt gets the messages of the first, from whichever shard they were", async () => {
  const { world, queue } = await sharded(3);
  put(world, 1, 2);
  put(world, 2, 2);
  const attempt = { max: 2, waitMs: 0, attemptId: "a" };
  const ids = (reply: ReceiveReply) => (reply.kind === "received" ? new PackedIndex(reply.packed).ids() : []);
  const first = ids(await queue.receive(QUEUE, attempt));
  expect(first).toHaveLength(2);
  expect(ids(await queue.receive(QUEUE, attempt))).toEqual(first);
  const done = await queue.work(QUEUE, { receive: [attempt] });
  const [reply] = done.ok ? (done.received ?? []) : [];
  expect(reply?.kind === "received" && ids(reply)).toEqual(first);
});

it("receives begin with another shard after some, so that none keeps callers from the messages of the others", async () => {
  const { world, queue } = await sharded(2);
  put(world, 0, 100);
  put(world, 1, 1);
  const shards = new Set<string>();
  for (let i = 0; i < 12; i++) {
    const reply = await queue.receive(QUEUE, { max: 1, waitMs: 0 });
    if (reply.kind === "received") shards.add(reply.receipts[0]?.slice(34) ?? "");
  }
  expect([...shards].sort()).toEqual(["", "-1"]);
});
