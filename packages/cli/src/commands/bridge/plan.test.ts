import { describe, expect, it } from "vitest";
import { backlogText, countOf, differencesOf } from "./plan.ts";

describe("settings that differ", () => {
  it("are named by their keys, with both values; what only the other side has is none", () => {
    const theirs = {
      settings: { delay: 1, receive: { waitMs: 0 }, redrive: null },
      consumer: { type: "worker" },
    };
    const ours = { settings: { delay: 2, receive: { waitMs: 0 }, history: 9 }, consumer: null };
    expect(differencesOf(theirs, ours)).toEqual([
      "settings.delay: 1, here 2",
      'consumer: {"type":"worker"}, here none',
    ]);
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
