import { ALERTS_QUEUE, type ClockSetting, endpointQueueName, type NextMoment } from "@sluice/protocol";
import { expect, it, vi } from "vitest";
import { brokerClockOf } from "./broker-clock.ts";

/** A queue whose object does not start. */
const DAMAGED = "damaged";
const REAL_TIME: ClockSetting = { offsetMs: 0, frozenAtMs: null };

function clockOver(moments: Readonly<Record<string, NextMoment>>) {
  const told: string[] = [];
  const clock = brokerClockOf({
    directory: {
      clock: async () => REAL_TIME,
      advanceClock: async (offsetMs) => ({ ...REAL_TIME, offsetMs }),
      freezeClock: async () => REAL_TIME,
    },
    names: async () => Object.keys(moments),
    objectOf: (name) => ({
      setClock: async () => {
        if (name === DAMAGED) throw new Error("no such file");
        told.push(name);
      },
      nextMoment: async () => {
        if (name === DAMAGED) throw new Error("no such file");
        return moments[name] ?? { atMs: null, isBusy: false };
      },
    }),
  });
  return { clock, told };
}

it("what comes next, is under way or expires is not that of the queue of alerts, which is moved too", async () => {
  const { clock, told } = clockOver({
    [ALERTS_QUEUE]: { atMs: 1_000, isBusy: true, expiresAtMs: 2_000 },
    orders: { atMs: 3_000, isBusy: false, expiresAtMs: 4_000 },
  });
  expect(await clock.next(null)).toEqual({
    first: { queue: "orders", atMs: 3_000, isBusy: false, expiresAtMs: 4_000 },
    busy: [],
    expiring: { queue: "orders", atMs: 4_000 },
  });
  await clock.advance(3_000);
  expect(told).toEqual([ALERTS_QUEUE, "orders"]);
});

it("the endpoint of a subscription of the user's is delivered to next", async () => {
  const queue = endpointQueueName("11111111-2222-3333-4444-555555555555");
  const { clock } = clockOver({ [queue]: { atMs: 1_000, isBusy: false } });
  expect(await clock.next(null)).toMatchObject({ first: { queue } });
});

it("a queue that does not start keeps the clock from no other, and is named", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const { clock, told } = clockOver({
    [DAMAGED]: { atMs: 1_000, isBusy: true },
    orders: { atMs: 3_000, isBusy: false },
  });
  expect(await clock.advance(3_000)).toEqual({ ...REAL_TIME, offsetMs: 3_000 });
  expect(told).toEqual(["orders"]);
  expect(log.mock.calls).toEqual([[`Queue "${DAMAGED}": it was not told the clock: Error: no such file`]]);
  expect(await clock.next(null)).toMatchObject({ first: { queue: "orders" }, busy: [] });
  log.mockRestore();
});
