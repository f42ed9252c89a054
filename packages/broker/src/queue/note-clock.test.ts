import { expect, it } from "vitest";
import { worldWithHistory } from "../../test/world.ts";
import { CLOCK_MOVED_MS_MIN } from "../history/figures/bucket.ts";
import { noteClockMoved } from "./note-clock.ts";

it.each([
  [CLOCK_MOVED_MS_MIN - 1, []],
  [CLOCK_MOVED_MS_MIN, [{ kind: "clockMoved", messages: 0, delayMs: CLOCK_MOVED_MS_MIN }]],
  [CLOCK_MOVED_MS_MIN + 1, [{ kind: "clockMoved", messages: 0, delayMs: CLOCK_MOVED_MS_MIN + 1 }]],
])(
  "a move of the clock by %i ms is noted if a clock does not go on so far while it is set",
  async (ms, events) => {
    const core = worldWithHistory({ orders: {} }).core("orders");
    await core.submit(() => noteClockMoved(core, ms));
    expect(core.history.list({ max: 9 }).events).toMatchObject(events);
  },
);
