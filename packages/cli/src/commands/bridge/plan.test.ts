import { describe, expect, it } from "vitest";
import { backlogText, countOf, differencesOf } from "./plan.ts";

describe("settings that differ", () => {
  it("are named with both values; what the existing queue lacks is none", () => {
    const wanted = [
      ["retention", "4 d"],
      ["receive wait", "0 s"],
      ["tag team", "a"],
    ] as const;
    const existing = [
      ["retention", "1 d"],
      ["receive wait", "0 s"],
      ["consumer", "none"],
    ] as const;
    expect(differencesOf(wanted, existing)).toEqual(["retention: 1 d, not 4 d", "tag team: none, not a"]);
  });
});

it.each([
  [{ waiting: null, inFlight: null, delayed: null }, "not known", 0],
  [{ waiting: 1, inFlight: null, delayed: null }, "1 message", 1],
  [{ waiting: 2_000, inFlight: 0, delayed: 0 }, "2,000 messages", 2_000],
  [{ waiting: 0, inFlight: 3, delayed: 4 }, "0 messages, 3 in flight, 4 delayed", 7],
])("a backlog of %j is shown as %s", (backlog, text, count) => {
  expect([backlogText(backlog), countOf(backlog)]).toEqual([text, count]);
});
