import { expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import { World } from "../../test/world.ts";

// conformance: purge
it("purges what waits, is delayed and is being delivered, durably", async () => {
  const world = new World({ orders: { consumer: consumer({ maxBatchSize: 1, maxBatchTimeoutSeconds: 0 }) } });
  const held = Promise.withResolvers<object>();
  world.handler = () => held.promise;
  await world.send("orders", ["in delivery", "waits"]);
  await world.send("orders", ["delayed"], { delaySeconds: 60 });
  await world.quiet();
  expect(world.core("orders").describe()).toMatchObject({ ready: 1, delayed: 1, leased: 1 });
  expect(await world.core("orders").purge()).toEqual({ purged: 3 });
  held.resolve({ retryBatch: { retry: true } });
  await world.quiet();
  expect(world.core("orders").describe()).toMatchObject({ ready: 0, delayed: 0, leased: 0 });
  world.crash("orders");
  await world.pass(60_000);
  expect(world.seen).toHaveLength(1);
  expect(await world.core("orders").purge()).toEqual({ purged: 0 });
});
