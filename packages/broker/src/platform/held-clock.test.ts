import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CATCH_UP, HeldClock, type HeldMoment, JUMP_MS, type Machine } from "./held-clock.ts";

const START_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A machine whose clock can be set, and that can be put to sleep. */
class TestMachine implements Machine {
  #setMs = 0;
  #passed = 0;
  #slept = 0;
  systemMs = () => START_MS + this.#passed + this.#slept + this.#setMs;
  passedMs = () => this.#passed;
  sleptMs = () => this.#slept;
  pass(ms: number): void {
    this.#passed += ms;
  }
  sleep(ms: number): void {
    this.#slept += ms;
  }
  set(byMs: number): void {
    this.#setMs += byMs;
  }
}

function held(before: HeldMoment | null = null) {
  const machine = new TestMachine();
  const jumps: number[][] = [];
  const clock = new HeldClock(machine, before, (...jump) => jumps.push(jump));
  return { machine, clock, jumps, sinceStart: () => clock.now() - START_MS };
}

describe("a clock that is held", () => {
  it("shows the time of the system's clock while that is not set", () => {
    const { machine, sinceStart, jumps } = held();
    machine.pass(5 * DAY_MS);
    expect(sinceStart()).toBe(5 * DAY_MS);
    expect(jumps).toEqual([]);
  });

  it.each([5 * DAY_MS, -DAY_MS, HOUR_MS, -JUMP_MS, JUMP_MS])(
    "goes on from where it was when the system's is set by %d ms, and says so",
    (byMs) => {
      const { machine, sinceStart, jumps, clock } = held();
      machine.pass(60_000);
      sinceStart();
      machine.set(byMs);
      expect(sinceStart()).toBe(60_000);
      expect(jumps).toEqual([[byMs, byMs]]);
      expect(clock.behindMs).toBe(byMs);
    },
  );

  it("follows a step that is smaller, but not back", () => {
    const { machine, sinceStart, jumps } = held();
    machine.set(JUMP_MS - 1);
    expect(sinceStart()).toBe(JUMP_MS - 1);
    machine.set(-(JUMP_MS - 1));
    expect(sinceStart()).toBe(JUMP_MS - 1);
    machine.pass(JUMP_MS);
    expect(sinceStart()).toBe(JUMP_MS);
    expect(jumps).toEqual([]);
  });

  it.each([1, -1])("comes nearer by a tenth of what passes, until both say the same (%d)", (sign) => {
    const { machine, sinceStart, clock } = held();
    machine.set(sign * HOUR_MS);
    expect(sinceStart()).toBe(0);
    machine.pass(HOUR_MS);
    expect(sinceStart()).toBe(HOUR_MS + (sign * HOUR_MS) / CATCH_UP);
    machine.pass(9 * HOUR_MS);
    expect([sinceStart(), clock.behindMs]).toEqual([10 * HOUR_MS + sign * HOUR_MS, 0]);
    machine.pass(HOUR_MS);
    expect(sinceStart()).toBe(11 * HOUR_MS + sign * HOUR_MS);
  });

  it("is where it was when the system's is set back to what it was", () => {
    const { machine, sinceStart, clock } = held();
    for (const byMs of [5 * DAY_MS, -5 * DAY_MS]) {
      machine.set(byMs);
      sinceStart();
    }
    expect([sinceStart(), clock.behindMs]).toEqual([0, 0]);
  });

  it("counts the sleep of a machine, in whole seconds or not, and no jump beside it", () => {
    const { machine, sinceStart, jumps } = held();
    machine.sleep(8 * HOUR_MS);
    expect([sinceStart(), jumps]).toEqual([8 * HOUR_MS, []]);
    machine.sleep(HOUR_MS);
    machine.set(DAY_MS);
    expect(sinceStart()).toBe(9 * HOUR_MS);
    expect(jumps).toEqual([[DAY_MS, DAY_MS]]);
  });

  it("is not misled by a process that is stopped between two readings", () => {
    const machine = new TestMachine();
    let stopMs = 30_000;
    const stopped: Machine = {
      passedMs: machine.passedMs,
      sleptMs: machine.sleptMs,
      systemMs: () => {
        machine.pass(stopMs);
        stopMs = 0;
        return machine.systemMs();
      },
    };
    stopMs = 0;
    const jumps: number[] = [];
    const clock = new HeldClock(stopped, null, (jumpMs) => jumps.push(jumpMs));
    stopMs = 30_000;
    expect([clock.now() - START_MS, jumps]).toEqual([30_000, []]);
  });
});

describe("a clock that was stored", () => {
  it("is as far behind or ahead at the next start, and the time between goes by the system's", () => {
    for (const behindMs of [-DAY_MS, 0, DAY_MS]) {
      const stoppedMs = START_MS - HOUR_MS;
      const { sinceStart, clock, jumps } = held({ systemMs: stoppedMs, brokerMs: stoppedMs - behindMs });
      expect([sinceStart(), clock.behindMs, jumps]).toEqual([0 - behindMs, behindMs, []]);
    }
  });

  it("goes on from where it was if the system's has gone back meanwhile", () => {
    const { sinceStart, clock, jumps } = held({ systemMs: START_MS + DAY_MS, brokerMs: START_MS + DAY_MS });
    expect([sinceStart(), clock.behindMs, jumps]).toEqual([DAY_MS, -DAY_MS, [[-DAY_MS, -DAY_MS]]]);
  });

  it("stores both clocks as they are", () => {
    const { machine, clock } = held();
    machine.set(DAY_MS);
    expect(clock.moment).toEqual({ systemMs: START_MS + DAY_MS, brokerMs: START_MS });
  });
});

const step = fc.oneof(
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: HOUR_MS }) }),
  fc.record({ kind: fc.constant("sleep" as const), ms: fc.integer({ min: 10_000, max: DAY_MS }) }),
  fc.record({ kind: fc.constant("set" as const), ms: fc.integer({ min: -30 * DAY_MS, max: 30 * DAY_MS }) }),
  fc.constant({ kind: "restart" as const, ms: 0 }),
);

it("whatever happens to the system's clock never goes back, and passes as time does within a tenth and the steps that are followed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const machine = new TestMachine();
      let clock = new HeldClock(machine);
      let lastMs = clock.now();
      for (const { kind, ms } of steps) {
        if (kind === "restart") clock = new HeldClock(machine, clock.moment);
        else machine[kind](ms);
        const nowMs = clock.now();
        const passedMs = kind === "pass" || kind === "sleep" ? ms : 0;
        // Sleep of which the machine tells in whole seconds is known that exactly.
        expect(nowMs - lastMs).toBeGreaterThanOrEqual(Math.max(0, passedMs * 0.9 - 2 * JUMP_MS - 1));
        expect(nowMs - lastMs).toBeLessThanOrEqual(passedMs * 1.1 + 2 * JUMP_MS + 1);
        lastMs = nowMs;
      }
    }),
    { numRuns: 2_000 },
  );
});
