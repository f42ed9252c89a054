import { firstIdOf } from "@sluice/engine";
import { ALERTS_QUEUE, PackedIndex } from "@sluice/protocol";
import { expect, it } from "vitest";
import { consumer } from "../../test/messages.ts";
import type { World } from "../../test/world.ts";
import { worldWithAlerts } from "../../test/world-alerts.ts";
import { lastReports } from "./last-reports.ts";

const failing = consumer({
  maxBatchSize: 1,
  maxBatchTimeoutSeconds: 0,
  maxRetries: 0,
  deadLetterQueue: "dead",
});

function deadLettering(): World {
  const world = worldWithAlerts(
    { orders: { consumer: failing }, dead: {} },
    { format: "slack", deadLetters: true },
  );
  world.handler = () => ({ outcome: "exception" });
  return world;
}

function lastOf(world: World) {
  const ports = { format: "slack", nowMs: world.nowMs, newMessageId: () => "0".repeat(32) } as const;
  const items = lastReports("dead", world.store("dead"), ports);
  const texts = items.map(({ packed }) => {
    const index = new PackedIndex(packed);
    return JSON.parse(new TextDecoder().decode(index.body(0))).text.split(": ")[0];
  });
  const [first, ...more] = items;
  return { ids: items.map(({ id }) => id), texts, transfer: first && { source: "dead", ...first, more } };
}

it("a queue without alerts that began has nothing to tell at its end", async () => {
  const world = deadLettering();
  await world.sendAndPass("dead", ["a"]);
  expect(lastOf(world).ids).toEqual([]);
});

it("a queue tells the ends of its alerts, which are taken once", async () => {
  const world = deadLettering();
  await world.sendAndPass("orders", ["a"]);
  await expect.poll(() => world.posts.length).toBe(1);
  const last = lastOf(world);
  expect(last.texts).toEqual([":large_green_circle"]);
  const { transfer } = last;
  if (transfer === undefined) throw new Error("there is nothing to tell");
  world.crash("dead");
  expect(lastOf(world).ids).toEqual(last.ids);
  for (let i = 0; i < 2; i++) {
    expect(await world.core(ALERTS_QUEUE).inbox.accept(transfer)).toEqual({
      takenTo: last.ids.at(-1),
      refused: null,
    });
    await world.pass(0);
  }
  expect(world.posts).toHaveLength(2);
  // A queue that is created with the name goes on with the next epoch: its reports are new ones.
  expect(last.ids.at(-1)).toBe(firstIdOf(world.store("dead").readEpoch() + 1) - 1);
});

it("a beginning that has not arrived goes before its end", async () => {
  const world = deadLettering();
  world.carry = (target, _transfer, deliver) =>
    target === ALERTS_QUEUE ? Promise.reject(new Error("it is away")) : deliver();
  await world.sendAndPass("orders", ["a"]);
  expect(lastOf(world).texts).toEqual([":red_circle", ":large_green_circle"]);
});
