import type { PartRequest } from "@sluice/protocol";
import { expect, it } from "vitest";
import { Lender } from "./lender.ts";

const none = { part: 0, used: 0, wanted: 0 };

it.each([-1, 0, 1])("messages per second are lent a second after shard 0 began, and %i ms", async (more) => {
  const clock = { nowMs: 0 };
  const lender = new Lender({
    epoch: () => 2,
    now: () => clock.nowMs,
    limits: () => ({ deliveries: null, messages: 2 }),
    others: () => [1],
    partOf: async (shard) => ({ shard, number: 1, deliveries: none, messages: none }),
  });
  const ask = (number: number): PartRequest => ({
    shard: 1,
    number,
    deliveries: none,
    messages: { ...none, wanted: 2 },
  });
  await lender.lend(ask(2));
  clock.nowMs = 1_000 + more;
  const { messages } = await lender.lend(ask(3));
  expect(messages?.units).toBe(more < 0 ? 0 : 2);
});
