import { expect, it } from "vitest";
import { parseStat, parseStatus, treeOf } from "./processes.ts";

const line = (pid: number, name: string, parent: number, times: string) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194304 1 2 3 4 ${times} 20 0 1 0 100 1000 100`;

it("reads the time of a process and of its children that have ended", () => {
  expect(parseStat(line(42, "workerd", 7, "10 20 3 4"))).toEqual({ pid: 42, parent: 7, ticks: 37 });
});

it("reads the line of a process whose name looks like a line", () => {
  expect(parseStat(line(42, "a) R 1 (b", 7, "1 2 0 0"))).toEqual({ pid: 42, parent: 7, ticks: 3 });
});

it("has no times of a process that has ended meanwhile", () => {
  expect(parseStat("")).toBeNull();
});

it("reads numbers and resident memory of a process", () => {
  const text =
    "Name:\tworkerd\nState:\tS (sleeping)\nPid:\t43\nPPid:\t42\nVmPeak:\t  900 kB\nVmRSS:\t  2048 kB\n";
  expect(parseStatus(text)).toEqual({ pid: 43, parent: 42, residentBytes: 2_097_152 });
});

it("has no memory of a process that has ended, and nothing of one that is gone", () => {
  const zombie = { pid: 7, parent: 1, residentBytes: 0 };
  expect(parseStatus("Name:\tzombie\nPid:\t7\nPPid:\t1\n")).toEqual(zombie);
  expect(parseStatus("")).toBeNull();
});

it("finds processes and everything that they have started, at any depth and in any order", () => {
  const processes = [
    [4, 3],
    [3, 2],
    [2, 1],
    [1, 0],
    [5, 1],
  ].map(([pid = 0, parent = 0]) => ({ pid, parent }));
  const found = (...roots: number[]) => treeOf(roots, processes).map(({ pid }) => pid);
  expect(found(2)).toEqual([4, 3, 2]);
  expect(found(3, 5)).toEqual([4, 3, 5]);
  expect(found(99)).toEqual([]);
});
