import type { ErrorsView, EventView } from "@sluice/gateway/views";
import { expect, it } from "vitest";
import { groupLines, placeIn } from "./errors.ts";

const NONE: ErrorsView = { groups: [], others: 0, none: 0, matched: 0, searched: 0, of: 0 };

it("errors are listed with their counts, those that are alike by what they have in common", () => {
  const groups = [
    { error: "Error: order 1 declined", count: 1_200, text: "Error: order # declined" },
    { error: "Error: \u001b[2Jno stock", count: 3 },
  ];
  const counts = { ...NONE, groups, others: 1, none: 2, matched: 1_206, searched: 1_206, of: 1_206 };
  expect(groupLines(counts)).toEqual([
    "1,200 Error: order # declined",
    "    3 Error: \\x1b[2Jno stock",
    "    1 with other errors",
    "    2 without a known error",
  ]);
  expect(groupLines({ ...counts, of: 5_000 }).at(-1)).toBe(
    "Counted among the first 1,206 of 5,000 messages.",
  );
});

it("there is nothing to list where no error is known", () => {
  expect(groupLines({ ...NONE, none: 4, matched: 4, searched: 4, of: 4 })).toEqual([]);
});

const event = (kind: EventView["kind"], error: string | null, texts: readonly string[] = []) =>
  ({
    kind,
    error,
    ...(texts.length === 0
      ? {}
      : { logs: { lines: texts.map((text) => ({ at: "", level: "error", text })) } }),
  }) as unknown as EventView;

it.each([
  [
    "thrown",
    "Error: no",
    [event("failed", "Error: no\n    at pay (src/pay.ts:3:7)"), event("deadLettered", "Error: no")],
    "src/pay.ts:3:7",
  ],
  [
    "printed",
    "Error: no (printed; its handler asked for the retry)",
    [event("printed", null, ["Error: no\n    at pay (src/pay.ts:4:7)"])],
    "src/pay.ts:4:7",
  ],
  [
    "the latest",
    "Error: no",
    [event("failed", "Error: no\n at a (a.ts:1:1)"), event("failed", "Error: no\n at b (b.ts:1:1)")],
    "b.ts:1:1",
  ],
  ["of another error", "Error: no", [event("failed", "Error: other\n    at pay (src/pay.ts:3:7)")], null],
  ["not known", "Error: no", [event("failed", "Error: no")], null],
])("the place of an error that is %s is that of its event", (_, error, events, place) => {
  expect(placeIn(events, error)).toBe(place);
});
