import { queuesUsd } from "@sluice/prices";
import { expect, it } from "vitest";
import { measurePrices } from "./measure-price.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Enough messages that the start does not count. Batches of one message are the dearest: each takes a commit. */
const MESSAGES = 2_000;

it("costs less than Cloudflare Queues, one message after the other in batches of one", async () => {
  const scenarios = SCENARIOS.filter(({ title }) => title.startsWith("sendBatch(1),"));
  expect(scenarios.length).toBe(1);
  const [priced] = await measurePrices(
    scenarios.map((scenario) => ({ ...scenario, messages: MESSAGES })),
    false,
    () => {},
  );
  expect(priced?.counted).toMatchObject({
    messages: MESSAGES,
    messageChunks: MESSAGES,
    deliveries: MESSAGES,
  });
  const million = { messages: 1e6, messageBytes: 0, messageChunks: 1e6, deliveries: 1e6 };
  // The duration is that of a busy machine; pnpm bench --price has it.
  const { total = 0, duration = 0 } = priced?.price ?? {};
  expect(total - duration).toBeGreaterThan(0);
  expect(total - duration).toBeLessThan(queuesUsd(million));
});
