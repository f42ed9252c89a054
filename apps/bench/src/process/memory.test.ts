import { expect, it } from "vitest";
import { parseStatus, treeOf } from "./memory.ts";

it("reads name, numbers and resident memory of a process", () => {
  const text =
    "Name:\tworkerd\nState:\tS (sleeping)\nPid:\t43\nPPid:\t42\nVmPeak:\t  900 kB\nVmRSS:\t  2048 kB\n";
  expect(parseStatus(text)).toEqual({ name: "workerd", pid: 43, parent: 42, residentBytes: 2_097_152 });
});

it("knows a process that has no memory any more, and one that is gone", () => {
  const zombie = { name: "zombie", pid: 7, parent: 1, residentBytes: 0 };
  expect(parseStatus("Name:\tzombie\nPid:\t7\nPPid:\t1\n")).toEqual(zombie);
  expect(parseStatus("")).toBeNull();
});

it("finds a process and everything that it has started, however deep and in whatever order", () => {
  const processes = [
    [4, 3],
    [3, 2],
    [2, 1],
    [5, 1],
  ].map(([pid = 0, parent = 0]) => ({ name: "node", pid, parent, residentBytes: 1 }));
  expect(treeOf(2, processes).map(({ pid }) => pid)).toEqual([4, 3, 2]);
  expect(treeOf(99, processes)).toEqual([]);
});
