import { expect, it } from "vitest";
import { FAULT_KINDS, type FaultKind } from "../api.ts";
import { missedText, textOf, unfinishedText } from "./report.ts";

const came = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, kind === "split" ? 0 : 1])) as Record<
  FaultKind,
  number
>;
const at = new Date(0);
const found = {
  number: 37,
  count: 500,
  seed: 8412,
  runs: 21,
  isSteady: true,
  came,
  violation: new Error("2 charges\nof 1 order"),
  first: { faults: 11, messages: 6 },
  recipe: { faults: [{ kind: "lostAck", message: 1, attempt: 1 } as const], choices: [0, 2] },
  stories: [
    {
      id: "1",
      queue: "orders",
      body: { id: 1 },
      state: "acked" as const,
      events: [
        { at, what: "stored" as const, queue: "orders", attempt: 0 },
        { at, what: "delivered" as const, queue: "orders", attempt: 1 },
        { at, what: "retried" as const, queue: "orders", attempt: 1, delay: 5, error: "lost\n  at x" },
        { at, what: "delivered" as const, queue: "orders", attempt: 2 },
        { at, what: "acked" as const, queue: "orders", attempt: 2 },
      ],
    },
  ],
};

it("the report of a broken history has a line to paste", () => {
  expect(textOf(found)).toBe(
    [
      "Broken in history 37 of 500 (seed 8412): 2 charges",
      "  11 faults -> 1, 6 messages -> 1, in 21 runs",
      '  orders#1 {"id":1}: stored, delivered [lostAck], retried in 5 s (lost), delivered, acked',
      "  never came: split",
      "As a test:",
      "  await explore({ ...spec, seed: 8412, choices: [0,2], " +
        'history: [{ kind: "lostAck", message: 1, attempt: 1 }] });',
    ].join("\n"),
  );
});

it("the report says that a history does not break every time, and names no faults that had no time to come", () => {
  const text = textOf({ ...found, number: 3, isSteady: false });
  expect(text).toContain("It does not break every time");
  expect(text).not.toContain("never came");
});

it("an exploration whose time is over says how many histories it has run", () => {
  expect(unfinishedText(11, 500, 3_412)).toBe(
    "explore: 11 of 500 histories in 3.4 s, none broken, then its time was over; timeoutMs gives it more.",
  );
});

it("a replayed history says which of its faults had no delivery to come at, and why", () => {
  const fault = { kind: "lostAck", message: 1, attempt: 1 } as const;
  const { stories } = found;
  expect(
    missedText([fault, { ...fault, attempt: 2 }], { due: [fault, { ...fault, attempt: 2 }], stories }),
  ).toBe(null);
  const history = [
    fault,
    { ...fault, attempt: 3 },
    { ...fault, message: 5 },
    { ...fault, kind: "reorder" as const },
  ];
  expect(missedText(history, { due: [fault], stories })?.split("\n")).toEqual([
    "Fault 2 of the history (lostAck of message 1, delivery 3) never came: the number of its deliveries was 2.",
    "Fault 3 of the history (lostAck of message 5, delivery 1) never came: the number of messages was 1.",
    expect.stringMatching(
      /^Fault 4 of the history \(reorder of message 1, delivery 1\) never came: clients that pull/,
    ),
    expect.stringMatching(/^The history holds, but is not the one/),
  ]);
});
