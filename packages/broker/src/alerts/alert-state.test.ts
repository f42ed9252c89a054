import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertState, hasUnreported, NO_ALERT, stepAlert } from "./alert-state.ts";
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
          told.push(...next.changes.map(({ what }) => what));
          state = restarts ? restored(next.state) : next.state;
          expect(state.on !== null).toBe(holds);
          if (isSilenced) expect(next.changes).toEqual([]);
          else expect([hasUnreported(state), state.told]).toEqual([false, state.on]);
          expect(told.at(-1) === "begun").toBe(state.told !== null);
        }
        expect(told).toEqual(told.map((_, i) => (i % 2 === 0 ? "begun" : "ended")));
      }),
    );
  });

  it("is told with the times at which it began and ended, in whichever shards, also after a silence", () => {
    const elsewhere = fc.option(fc.nat(100), { nil: null });
    fc.assert(
      fc.property(fc.array(fc.tuple(step, elsewhere), { maxLength: 60 }), (steps) => {
        let state: AlertState = NO_ALERT;
        let nowMs = 1_000;
        /**
         * Times that are or were true: of the alert that was told, of its first end since, and of the one that is on.
         */
        let [toldMs, endMs]: (number | null)[] = [null, null];
        for (const [{ holds, isSilenced, after, restarts }, elsewhereMs] of steps) {
          nowMs += after;
          const other = elsewhereMs === null ? null : { sinceMs: 500 + elsewhereMs, text: "elsewhere" };
          const next = stepAlert(state, holds ? "text" : null, nowMs, isSilenced, { first: other });
          state = restarts ? restored(next.state) : next.state;
          const isOn = holds || other !== null;
          if (!isOn && toldMs !== null) endMs ??= nowMs;
          const firstMs = other?.sinceMs ?? state.on?.sinceMs ?? null;
          const ended: boolean = toldMs !== null && endMs !== null;
          const begun: boolean = isOn && (toldMs === null || ended);
          expect(next.changes).toEqual(
            isSilenced
              ? []
              : [
                  ...(ended
                    ? [{ what: "ended", of: expect.objectContaining({ sinceMs: toldMs }), endedMs: endMs }]
                    : []),
                  ...(begun ? [{ what: "begun", of: expect.objectContaining({ sinceMs: firstMs }) }] : []),
                ],
          );
          if (isSilenced || !(ended || begun)) continue;
          [toldMs, endMs] = [begun ? firstMs : null, null];
        }
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
