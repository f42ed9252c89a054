import { expect, it } from "vitest";
import { markdownTable } from "./markdown-table.ts";

it("lines up names on the left and figures on the right", () => {
  expect(
    markdownTable(
      ["system", "sent/s"],
      [
        ["Sluice", "52,000"],
        ["BullMQ on Redis", "9"],
      ],
    ),
  ).toBe(
    [
      "| system          | sent/s |",
      "| --------------- | -----: |",
      "| Sluice          | 52,000 |",
      "| BullMQ on Redis |      9 |",
    ].join("\n"),
  );
});

it("fills up short rows", () => {
  expect(markdownTable(["a", "b"], [["x"]])).toBe("| a   |   b |\n| --- | --: |\n| x   |     |");
});

it("keeps a cell within its cell", () => {
  expect(markdownTable(["a"], [["1|2\n3"]])).toContain("| 1\\|2 3 |");
});
