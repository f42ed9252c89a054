import { expect, it } from "vitest";
import { only, SqsWorld } from "../../test/sqs-world.ts";

it("a receive whose answer has reached no client does not count: its messages are visible again, in their places", async () => {
  const queues = new SqsWorld({
    orders: { receive: { redrive: { deadLetterQueue: "dead", maxReceiveCount: 1 } } },
    dead: {},
  });
  await queues.enqueue("orders", "a", "b");
  const received = await queues.receive("orders");
  expect(await queues.release("orders", ...received)).toBe(2);
  await queues.enqueue("orders", "c");
  const again = await queues.receive("orders");
  expect(again.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 1],
  ]);
});

it("a receive whose answer has reached no client unblocks its group", async () => {
  const queues = new SqsWorld({ "orders.fifo": {} });
  await queues.enqueue("orders.fifo", "g-1", "g-2");
  const message = only(await queues.receive("orders.fifo", { max: 1 }));
  expect(await queues.bodies("orders.fifo")).toEqual([]);
  await queues.release("orders.fifo", message);
  expect(await queues.bodies("orders.fifo")).toEqual(["g-1", "g-2"]);
});

it("a receive whose answer has reached no client leaves alone what was deleted or received again meanwhile, and receipts that are none", async () => {
  const queues = new SqsWorld({ orders: {} });
  await queues.enqueue("orders", "a", "b");
  const [a, b] = await queues.receive("orders", { visibilityTimeoutMs: 1_000 });
  if (a === undefined || b === undefined) throw new Error("nothing was received");
  await queues.delete("orders", a);
  await queues.pass(1_000);
  expect(await queues.bodies("orders")).toEqual(["b"]);
  expect(await queues.release("orders", a, b, { ...a, receipt: "none" })).toBe(0);
  expect(await queues.bodies("orders")).toEqual([]);
});

it("a receive whose answer has reached no client wakes who waits", async () => {
  const queues = new SqsWorld({ orders: {} });
  await queues.enqueue("orders", "a");
  const received = await queues.receive("orders");
  const waiting = queues.bodies("orders", { waitMs: 20_000 });
  await queues.release("orders", ...received);
  expect(await waiting).toEqual(["a"]);
});
