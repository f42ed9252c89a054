import { expect, it } from "vitest";
import { compareTables, type Row } from "./compare-tables.ts";

const summary = {
  messages: 1000,
  sentPerSecond: 1234.4,
  handledPerSecond: 1200,
  call: { meanMs: 0.41, p50Ms: 0, p99Ms: 2 },
  endToEnd: { meanMs: 1.5, p50Ms: 1, p99Ms: 3 },
  cpuMicrosPerMessage: 90,
};
const testCase = { title: "send, one by one" };
const worker = { name: "Sluice", acknowledged: "disk", clockMs: 1 } as const;
const absent = { name: "BullMQ", acknowledged: "disk", clockMs: 0 } as const;

const ROWS: readonly Row[] = [
  { system: worker, testCase, outcome: { kind: "measured", summary } },
  { system: absent, testCase, outcome: { kind: "failed", reason: "redis-server is not installed" } },
  { system: worker, testCase: { title: "burst" }, outcome: { kind: "measured", summary } },
];

const cellsOf = (tables: string, name: string) =>
  (tables.split("\n").find((line) => line.startsWith(`| ${name}`)) ?? "")
    .split("|")
    .map((cell) => cell.trim());

it("has a table per case and a row per system", () => {
  const tables = compareTables(ROWS);
  expect(tables.match(/^### .*$/gm)).toEqual(["### send, one by one", "### burst"]);
  expect(cellsOf(tables, "Sluice")).toEqual([
    "",
    "Sluice",
    "disk",
    "1,234",
    "1,200",
    "0.410",
    "<1",
    "2.00",
    "1.50",
    "1.00",
    "3.00",
    "90",
    "",
  ]);
});

it("keeps the row of a system that could not be measured, and says why", () => {
  const tables = compareTables(ROWS);
  expect(cellsOf(tables, "BullMQ").slice(0, 4)).toEqual(["", "BullMQ", "disk", "not measured"]);
  expect(tables).toContain("- BullMQ was not measured: redis-server is not installed");
});
