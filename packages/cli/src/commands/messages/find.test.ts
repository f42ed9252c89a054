import { expect, it } from "vitest";
import type { OnBroker } from "../on-broker.ts";
import { find } from "./find.ts";

/** Text that is said beside the table where one message is shown of so many that fit. */
async function notesOf(count: number, isWhole = true): Promise<string[]> {
  const lines: string[] = [];
  const shown = { id: "1a2b3c4d".padEnd(32, "0"), state: "ready", text: "lamp", contentType: "text" };
  const messages = [{ queue: "orders", filter: "lamp", messages: [shown], count, isWhole }];
  const on = {
    json: false,
    client: { admin: async () => ({ messages, gone: [], unfinished: [] }) },
    printer: { print: () => {}, warn: (line: string) => void lines.push(line) },
  };
  expect(await find(on as unknown as OnBroker, "lamp")).toBe(0);
  return lines;
}

it.each([
  [1, true, []],
  [2, true, ["There is 1 more in orders: sluice messages peek orders --filter 'lamp'"]],
  [1_002, true, ["There are 1,001 more in orders: sluice messages peek orders --filter 'lamp'"]],
  [2, false, ["There is at least 1 more in orders: sluice messages peek orders --filter 'lamp'"]],
  [1, false, ["There are perhaps more in orders: sluice messages peek orders --filter 'lamp'"]],
])(
  "of %i messages that fit (all are counted: %s) find says what the table leaves out",
  async (count, isWhole, notes) => {
    expect(await notesOf(count, isWhole)).toEqual(notes);
  },
);
