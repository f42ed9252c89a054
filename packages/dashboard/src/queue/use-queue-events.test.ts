import { describe, expect, it } from "vitest";
import type { EventView, FrameView } from "../api/call.ts";
import { isPartial, type QueueEvents, withFrame, withFresh } from "./use-queue-events.ts";

const event = (number: number, second: number, changes: Partial<EventView> = {}) =>
  ({
    number,
    kind: "delivered",
    at: new Date(1_000 * second).toISOString(),
    queue: "orders",
    messages: 1,
    merged: null,
    ...changes,
  }) as EventView;
const merged = (number: number, second: number, messages: number, queue = "orders") =>
  event(number, second, {
    messages,
    queue,
    merged: { until: new Date(1_000 * second).toISOString(), events: messages, tookMs: null },
  });
const frame = (changes: Partial<FrameView>): FrameView => ({
  at: new Date(0).toISOString(),
  isSnapshot: false,
  isGap: false,
  queues: [],
  gone: [],
  events: [],
  ...changes,
});
const figures = (name: string, isOn: boolean) => ({ name, isOn }) as FrameView["queues"][number];
const numbers = (events: readonly EventView[]) => events.map(({ number }) => number);

it("deliveries of all shards are known, in order of time, whichever has the larger numbers", () => {
  const known = withFresh([], [event(900, 5), event(901, 3)]);
  expect(numbers(withFresh(known, [event(7, 6), event(6, 4)]))).toEqual([7, 900, 6, 901]);
});

it("an event that comes twice is known once, and one that is no delivery not at all", () => {
  const known = withFresh([], [event(1, 1)]);
  const fresh = [event(1, 1), event(2, 1), event(3, 2, { kind: "accepted" })];
  expect(numbers(withFresh(known, fresh))).toEqual([2, 1]);
});

it("an event that others were merged into since it came has their messages too", () => {
  const known = withFresh([], [merged(1, 1, 40), event(2, 1)]);
  expect(withFresh(known, [merged(1, 1, 900)])).toEqual([event(2, 1), merged(1, 1, 900)]);
});

describe("a frame", () => {
  const KNOWN: QueueEvents = { events: [event(1, 1)], isOn: true };

  it("has the deliveries of the queue, and says whether its history is on", () => {
    const events = [event(2, 2), event(9, 9, { queue: "other" })];
    expect(withFrame(KNOWN, "orders", frame({ events }))).toEqual({
      events: [event(2, 2), event(1, 1)],
      isOn: true,
    });
    const queues = [figures("other", true), figures("orders", false)];
    expect(withFrame(KNOWN, "orders", frame({ queues })).isOn).toBe(false);
  });

  it.each<[string, Partial<FrameView>, boolean]>([
    ["leaves out events", { isGap: true }, true],
    ["has one that grows on", { events: [merged(1, 1, 3)] }, true],
    ["has one of another queue that grows on", { events: [merged(1, 1, 3, "other")] }, false],
    ["has all", { events: [event(1, 1)] }, false],
  ])("that %s has the history asked or not", (_, changes, expected) => {
    expect(isPartial("orders", frame(changes))).toBe(expected);
  });
});
