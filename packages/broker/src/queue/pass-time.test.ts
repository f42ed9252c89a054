import { expect, it } from "vitest";
import { World } from "../../test/world.ts";

// conformance: retention
it("retention deletes what is older and says so", async () => {
  const world = new World({ orders: { messageRetentionSeconds: 60 } });
  await world.sendAndPass("orders", ["a", "b"], 1_000);
  await world.sendAndPass("orders", ["c"], 58_999);
  expect(world.core("orders").metrics()).toMatchObject({ backlogCount: 3 });
  await world.pass(1);
  expect(world.core("orders").metrics()).toMatchObject({ backlogCount: 1 });
  expect(world.lines).toEqual([
    'warn: Queue "orders": 2 messages are deleted after the retention period of 60 s',
  ]);
  await world.pass(1_000);
  expect(world.lines.slice(1)).toEqual([
    'warn: Queue "orders": 1 message is deleted after the retention period of 60 s',
  ]);
  expect([...world.store("orders").segments()]).toEqual([]);
  expect(world.alarmIn("orders")).toBeNull();
});
