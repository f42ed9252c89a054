import { expect, it } from "vitest";
import { measurePrices } from "./measure-price.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

/** Long enough that the object sleeps between two messages: as a minute is, and longer times. */
const ALONE = { kind: "trickle", everyMs: 16_000 } as const;
const MESSAGES = 3;

const scenarios = SCENARIOS.filter(({ title }) => title.startsWith("1 message/min"));

it("there is a price of a message a minute for each of two consumers", () => {
  expect(scenarios).toHaveLength(2);
});

// Nearly all of their time is the pauses.
it.concurrent.each(scenarios)(
  "costs at most 5 USD for a million and four rows a message: $title",
  async (scenario) => {
    const alone: Scenario = { ...scenario, sending: ALONE, messages: MESSAGES };
    const [priced] = await measurePrices([alone], false, () => {});
    expect(priced?.counted).toMatchObject({ messages: MESSAGES, deliveries: MESSAGES });
    expect(priced?.counted.rowsWritten).toBeLessThanOrEqual(4 * MESSAGES);
    expect(priced?.price.total).toBeLessThan(5);
  },
);
