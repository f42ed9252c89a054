import type { LastEnd } from "@sluice/protocol";
import { describe, expect, it, vi } from "vitest";
import { APART_MS_MAX, LastEnds } from "./last-end.ts";

const URL_OF_HOST = "http://127.0.0.1:1/token";

/** How a queue's epoch ended, as it is known at a moment of 7 ms. */
const ofEpoch = async (ends: LastEnds, ...[queue, env, version]: [string, ...EnvAndVersion]) =>
  (await ends.of(queue, env, version, 7)).ofEpoch.kind;
type EnvAndVersion = [Parameters<LastEnds["of"]>[1], string | null];

describe("the end of the epoch before", () => {
  it.each([
    ["planned", "planned"],
    ["unplanned", "unplanned"],
    ['{"kind":"blamed","worker":"a","slotMs":1}', "blamed"],
    [undefined, "unplanned"],
  ])("is taken for what whoever ended the process says: %s", async (said, expected) => {
    const env = said === undefined ? {} : { SLUICE_LAST_END: said };
    expect(await ofEpoch(new LastEnds(), "orders", env, null)).toBe(expected);
  });

  it.each([
    ["planned", "planned"],
    ["", "unplanned"],
  ])("is asked for once for all queues where a URL says it: %j", async (answer, expected) => {
    const ask = vi.fn(async () => answer);
    const ends = new LastEnds(ask);
    const env = { SLUICE_LAST_END: URL_OF_HOST };
    const both = ["a", "b"].map((queue) => ofEpoch(ends, queue, env, null));
    expect(await Promise.all(both)).toEqual([expected, expected]);
    expect(ask.mock.calls).toEqual([[URL_OF_HOST]]);
  });

  it("counts as a crash, with a line, when nobody answers", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const ends = new LastEnds(() => Promise.reject(new Error("connection refused")));
    expect(await ofEpoch(ends, "orders", { SLUICE_LAST_END: URL_OF_HOST }, null)).toBe("unplanned");
    expect(warn.mock.calls.join()).toContain("connection refused");
    warn.mockRestore();
  });

  it("is no planned one within the same process: only the object was reset", async () => {
    const ends = new LastEnds();
    const env = { SLUICE_LAST_END: "planned" };
    expect(await ofEpoch(ends, "orders", env, null)).toBe("planned");
    ends.begun("orders");
    expect(await ofEpoch(ends, "orders", env, null)).toBe("unplanned");
    expect(await ofEpoch(ends, "others", env, null)).toBe("planned");
  });

  it("leaves it at who has to wait, since the process began, when an object was reset", async () => {
    const end: LastEnd = { kind: "suspected", order: ["a", "b"], slotMs: 10 };
    const env = { SLUICE_LAST_END: JSON.stringify(end) };
    const ends = new LastEnds();
    expect(await ends.of("orders", env, null, 7)).toEqual({ ofEpoch: end, ofProcess: end, sinceMs: 7 });
    ends.begun("orders");
    const ofEpoch = { kind: "unplanned" };
    expect(await ends.of("orders", env, null, 9)).toEqual({ ofEpoch, ofProcess: end, sinceMs: 7 });
  });

  it.each([
    ["another version of a deployed broker", { SLUICE_VERSION: { id: "2" } }, "1", "planned"],
    ["the same version", { SLUICE_VERSION: { id: "2" } }, "2", "unplanned"],
    ["an epoch without a version", { SLUICE_VERSION: { id: "2" } }, null, "unplanned"],
    ["a broker without a version", {}, "1", "unplanned"],
    [
      "development, where each start has a version",
      { SLUICE_VERSION: { id: "2" }, SLUICE_ENV: "development" },
      "1",
      "unplanned",
    ],
  ])("is told by the version: %s", async (_name, env, version, expected) => {
    expect(await ofEpoch(new LastEnds(), "orders", env, version)).toBe(expected);
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
