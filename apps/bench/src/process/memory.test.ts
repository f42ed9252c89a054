import { expect, it } from "vitest";
import { parseStatus } from "./memory.ts";

it("reads name, parent and resident memory of a process", () => {
  const text = "Name:\tworkerd\nState:\tS (sleeping)\nPPid:\t42\nVmPeak:\t  900 kB\nVmRSS:\t  2048 kB\n";
  expect(parseStatus(text)).toEqual({ name: "workerd", parent: 42, residentBytes: 2_097_152 });
});

it("knows a process that has no memory any more, and one that is gone", () => {
  expect(parseStatus("Name:\tzombie\nPPid:\t1\n")).toEqual({ name: "zombie", parent: 1, residentBytes: 0 });
  expect(parseStatus("")).toBeNull();
});
