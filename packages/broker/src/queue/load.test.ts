import { expect, it } from "vitest";
import { bodiesOf, consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";

const atOnce = { maxBatchTimeoutSeconds: 0 };

it("damage of a segment's index leaves the segment out and says so, while the rest is delivered", async () => {
  const world = new World({ orders: { consumer: consumer({ maxBatchTimeoutSeconds: 60 }) } });
  await world.send("orders", ["lost"], { delaySeconds: 1 });
  await world.send("orders", ["kept"]);
  const [first, second] = [...world.store("orders").segments()];
  expect(second).toBeDefined();
  world.store("orders").damage(({ segments }) => {
    const row = segments.get(first?.id ?? 0);
    if (row !== undefined) segments.set(first?.id ?? 0, { ...row, index: row.index.map((byte) => byte ^ 1) });
  });
  world.crash("orders");
  await world.pass(60_000);
  expect(bodiesOf(world.seen)).toEqual([["kept"]]);
  expect(world.lines).toEqual([
    expect.stringContaining(
      `error: Queue "orders": segment ${first?.id} is damaged and left out, its messages are lost: ByteFormatError`,
    ),
  ]);
});

it("damage of a segment's state delivers its messages again from the first attempt, and says so", async () => {
  const world = new World({ orders: { consumer: consumer({ ...atOnce, retryDelaySeconds: 60 }) } });
  world.handler = (batch) => ({ retryMessages: batch.messages.slice(1).map(({ id }) => ({ msgId: id })) });
  await world.sendAndPass("orders", ["acknowledged", "retried"]);
  world.handler = () => ({});
  world.store("orders").damage(({ segments }) => {
    for (const [id, row] of segments) segments.set(id, { ...row, state: row.state?.slice(1) ?? null });
  });
  world.crash("orders");
  world.lines.length = 0;
  world.core("orders");
  await world.pass(0);
  expect(world.seen[1]?.messages).toMatchObject([
    { body: "acknowledged", attempts: 1 },
    { body: "retried", attempts: 1 },
  ]);
  expect(world.lines).toEqual([
    expect.stringMatching(
      /^error: .* what happened to the messages of segment \d+ is damaged.*delivered again/,
    ),
  ]);
  world.store("orders").damage(({ segments, states }) => {
    expect([segments.size, states.size]).toEqual([0, 0]);
  });
});
