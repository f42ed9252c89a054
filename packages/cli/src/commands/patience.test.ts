import { CliError, EXIT_FAILED, EXIT_NO_BROKER } from "@sluice/project/errors";
import { describe, expect, it } from "vitest";
import { BrokerFailure } from "../client/broker-client.ts";
import { PassingFailure, patiently, RUN_TRIES } from "./patience.ts";

/** Calls something that fails in turn with each of some errors. */
async function called(errors: Error[], tries = RUN_TRIES, stop = new AbortController().signal) {
  const waits: number[] = [];
  const notes: string[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const call = async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    return "done";
  };
  const end = await patiently({ tries, wait, stop, note: (text) => notes.push(text) }, call).catch(String);
  return { end, waits, notes };
}

const broker = (exitCode: number, status: number) => new BrokerFailure("away.", exitCode, null, null, status);

describe("patiently", () => {
  it("waits longer each time, and says so where it is worth it", async () => {
    const { end, waits, notes } = await called(Array.from({ length: 9 }, () => new PassingFailure("busy.")));
    expect([end, waits]).toEqual(["done", [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000]]);
    expect(notes[0]).toBe("busy. The next try is in 2 s.");
    expect(notes).toHaveLength(6);
  });

  it("waits as long as it is asked to", async () => {
    expect((await called([new PassingFailure("busy.", 7_000)])).waits).toEqual([7_000]);
  });

  it("waits 5 minutes at most, whatever it is asked to", async () => {
    expect((await called([new PassingFailure("busy.", 86_400_000)])).waits).toEqual([300_000]);
  });

  it("tries at once where it is stopped while it waits", async () => {
    const stopping = new AbortController();
    let tries = 0;
    const call = async () => {
      tries += 1;
      if (tries === 1) throw new PassingFailure("busy.", 60_000);
    };
    await patiently({ tries: RUN_TRIES, note: () => stopping.abort(), stop: stopping.signal }, call);
    expect(tries).toBe(2);
  });

  it("waits no longer than by itself once it is stopped", async () => {
    const { waits } = await called([new PassingFailure("busy.", 60_000)], RUN_TRIES, AbortSignal.abort());
    expect(waits).toEqual([200]);
  });

  it.each([
    [1, "done"],
    [2, "done"],
    [3, "CliError: busy."],
  ])("of 3 tries %i fail: %s", async (failures, end) => {
    const errors = Array.from({ length: failures }, () => new PassingFailure("busy."));
    expect((await called(errors, 3)).end).toBe(end);
  });

  it.each([
    [broker(EXIT_NO_BROKER, 0), 1],
    [broker(EXIT_FAILED, 500), 1],
    [broker(EXIT_FAILED, 429), 1],
    [broker(EXIT_FAILED, 400), 0],
    [new CliError("no"), 0],
    [new TypeError("a mistake"), 0],
  ])("%s is tried again: %i", async (error, count) => {
    expect((await called([error])).waits).toHaveLength(count);
  });
});
