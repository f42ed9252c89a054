import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertState, isUntold, NO_ALERT, stepAlert } from "./alert-state.ts";
import { decodeAlerts, encodeAlerts, NO_ALERTS } from "./stored-alerts.ts";

describe("an alert, whatever happens", () => {
  const step = fc.record({
    holds: fc.boolean(),
    isSilenced: fc.boolean(),
    /** Ms since the step before. */
    after: fc.nat(3),
    /** Whether the object goes on with what it has stored. */
    restarts: fc.boolean(),
  });

  it("begins and ends by turns, and says what is so whenever it is not silenced", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state: AlertState = NO_ALERT;
        let nowMs = 1;
        const told: string[] = [];
        for (const { holds, isSilenced, after, restarts } of steps) {
          nowMs += after;
          const next = stepAlert(state, holds ? "text" : null, nowMs, isSilenced);
          told.push(...next.tells.map(({ what }) => what));
          state = restarts ? restored(next.state) : next.state;
          expect(state.on !== null).toBe(holds);
          if (isSilenced) expect(next.tells).toEqual([]);
          else expect([isUntold(state), state.told]).toEqual([false, state.on]);
          expect(told.at(-1) === "begun").toBe(state.told !== null);
        }
        expect(told).toEqual(told.map((_, i) => (i % 2 === 0 ? "begun" : "ended")));
      }),
    );
  });
});

function restored(state: AlertState): AlertState {
  const bytes = encodeAlerts({ ...NO_ALERTS, states: { ...NO_ALERTS.states, stalled: state } });
  return bytes === null ? NO_ALERT : decodeAlerts(bytes).states.stalled;
}

it("a note of a queue without alerts is none, and a damaged one is refused", () => {
  expect(encodeAlerts(NO_ALERTS)).toBeNull();
  const bytes = encodeAlerts({ ...NO_ALERTS, stillSinceMs: 7 }) as Uint8Array;
  expect(decodeAlerts(bytes)).toEqual({ ...NO_ALERTS, stillSinceMs: 7 });
  const damaged = bytes.map((byte) => (byte === 0x37 ? 0x38 : byte));
  expect(() => decodeAlerts(damaged)).toThrow("checksum");
});
