import { describe, expect, it, vi } from "vitest";
import { APART_MS_MAX, LastEnds, PLANNED_END } from "./last-end.ts";

const URL_OF_HOST = "http://127.0.0.1:1/token";

describe("the end of the epoch before", () => {
  it.each([
    ["planned", true],
    ["unplanned", false],
    [undefined, false],
  ])("is taken for what whoever ended the process says: %s", async (said, expected) => {
    const env = said === undefined ? {} : { SLUICE_LAST_END: said };
    expect(await new LastEnds().wasPlanned("orders", env, null)).toBe(expected);
  });

  it.each([
    [PLANNED_END, true],
    ["", false],
  ])("is asked for once for all queues where a URL says it: %j", async (answer, expected) => {
    const ask = vi.fn(async () => answer);
    const ends = new LastEnds(ask);
    const env = { SLUICE_LAST_END: URL_OF_HOST };
    expect(await Promise.all(["a", "b"].map((queue) => ends.wasPlanned(queue, env, null)))).toEqual([
      expected,
      expected,
    ]);
    expect(ask.mock.calls).toEqual([[URL_OF_HOST]]);
  });

  it("counts as a crash, with a line, when nobody answers", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const ends = new LastEnds(() => Promise.reject(new Error("connection refused")));
    expect(await ends.wasPlanned("orders", { SLUICE_LAST_END: URL_OF_HOST }, null)).toBe(false);
    expect(warn.mock.calls.join()).toContain("connection refused");
    warn.mockRestore();
  });

  it("is no planned one within the same process: only the object was reset", async () => {
    const ends = new LastEnds();
    const env = { SLUICE_LAST_END: PLANNED_END };
    expect(await ends.wasPlanned("orders", env, null)).toBe(true);
    ends.begun("orders");
    expect(await ends.wasPlanned("orders", env, null)).toBe(false);
    expect(await ends.wasPlanned("others", env, null)).toBe(true);
  });

  it.each([
    ["another version of a deployed broker", { SLUICE_VERSION: { id: "2" } }, "1", true],
    ["the same version", { SLUICE_VERSION: { id: "2" } }, "2", false],
    ["an epoch without a version", { SLUICE_VERSION: { id: "2" } }, null, false],
    ["a broker without a version", {}, "1", false],
    [
      "development, where each start has a version",
      { SLUICE_VERSION: { id: "2" }, SLUICE_ENV: "development" },
      "1",
      false,
    ],
  ])("is told by the version: %s", async (_name, env, version, expected) => {
    expect(await new LastEnds().wasPlanned("orders", env, version)).toBe(expected);
  });
});

describe("how long messages wait that an end has cut off", () => {
  const delayMs = (random: number, env: Parameters<LastEnds["delayMs"]>[1], begun = "others") => {
    const ends = new LastEnds(undefined, () => random);
    ends.begun(begun);
    return ends.delayMs("orders", env);
  };
  const env = { SLUICE_LAST_END: "unplanned" };

  it("is another time for each queue where Workers share its process", () => {
    expect([delayMs(0, env), delayMs(0.5, env), delayMs(0.9999, env)]).toEqual([
      0,
      APART_MS_MAX / 2,
      APART_MS_MAX - 1,
    ]);
  });

  it("is none where they do not, and after the end of an object alone", () => {
    expect([delayMs(0.5, {}), delayMs(0.5, env, "orders")]).toEqual([0, 0]);
  });
});
