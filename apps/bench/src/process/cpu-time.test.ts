import { expect, it } from "vitest";
import { parseStat, ticksOfTree } from "./cpu-time.ts";

const line = (pid: number, name: string, parent: number, times: string) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194304 1 2 3 4 ${times} 20 0 1 0 100 1000 100`;

it("reads the time of a process and of its children that have ended", () => {
  expect(parseStat(line(42, "workerd", 7, "10 20 3 4"))).toEqual({ pid: 42, parent: 7, ticks: 37 });
});

it("is not misled by a process that calls itself like a line", () => {
  expect(parseStat(line(42, "a) R 1 (b", 7, "1 2 0 0"))).toEqual({ pid: 42, parent: 7, ticks: 3 });
});

it("knows a process that ended meanwhile", () => {
  expect(parseStat("")).toBeNull();
});

it("adds up a process and everything it has started, however deep and in whatever order", () => {
  const processes = [
    { pid: 4, parent: 3, ticks: 1000 },
    { pid: 3, parent: 2, ticks: 100 },
    { pid: 2, parent: 1, ticks: 10 },
    { pid: 1, parent: 0, ticks: 1 },
    { pid: 5, parent: 1, ticks: 5 },
  ];
  expect(ticksOfTree(processes, [2])).toBe(1110);
  expect(ticksOfTree(processes, [3, 5])).toBe(1105);
  expect(ticksOfTree(processes, [99])).toBe(0);
});
