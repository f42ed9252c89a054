import { expect, it } from "vitest";
import type { EventView } from "../api/call.ts";
import { withFresh } from "./use-queue-events.ts";

const event = (number: number, second: number, kind: EventView["kind"] = "delivered") =>
  ({ number, kind, at: new Date(1_000 * second).toISOString() }) as EventView;
const numbers = (events: readonly EventView[]) => events.map(({ number }) => number);

it("deliveries of all shards are known, in order of time, whichever has the larger numbers", () => {
  const known = withFresh([], [event(900, 5), event(901, 3)]);
  expect(numbers(withFresh(known, [event(7, 6), event(6, 4)]))).toEqual([7, 900, 6, 901]);
});

it("an event that comes twice is known once, and one that is no delivery not at all", () => {
  const known = withFresh([], [event(1, 1)]);
  expect(numbers(withFresh(known, [event(1, 1), event(2, 1), event(3, 2, "accepted")]))).toEqual([2, 1]);
});
