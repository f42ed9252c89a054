import { UsageError } from "@sluice/harness/command-line";
import { expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";

const parsed = (...args: string[]) => {
  const command = parseCommandLine(args);
  if (command === "help") throw new Error("it is a command, not a question");
  return command;
};

it("compares everything in many short runs without options", () => {
  expect(parsed()).toEqual({
    mode: "compare",
    systems: [],
    cases: [],
    runs: 8,
    runSeconds: 1,
    isQuick: false,
    mayInstall: true,
    jsonFile: null,
    writesDocs: false,
  });
});

it("does everything once and small with --quick, unless more is asked for", () => {
  expect(parsed("--quick")).toMatchObject({ runs: 1, runSeconds: 0.1, isQuick: true });
  expect(parsed("--quick", "--runs", "2")).toMatchObject({ runs: 2, isQuick: true });
});

it("takes several systems and cases", () => {
  expect(parsed("--system", "sluice", "--system", "mini", "--case", "burst")).toMatchObject({
    systems: ["sluice", "mini"],
    cases: ["burst"],
  });
});

it("measures SQS, and only the clients and cases that are asked for", () => {
  expect(parsed("--sqs", "--system", "sluice", "--case", "sqs-single")).toMatchObject({
    mode: "sqs",
    systems: ["sluice"],
    cases: ["sqs-single"],
  });
});

it.each([
  [["--backlog", "--price"], "at a time"],
  [["--sqs", "--price"], "at a time"],
  [["--start", "--price"], "at a time"],
  [["--scale", "--price"], "at a time"],
  [["--runs", "0"], "--runs"],
  [["--seconds", "soon"], "--seconds"],
  [["--unknown"], "--unknown"],
])("refuses %j", (args, reason) => {
  expect(() => parseCommandLine(args)).toThrow(UsageError);
  expect(() => parseCommandLine(args)).toThrow(reason);
});

it("explains itself", () => {
  expect(parseCommandLine(["--help"])).toBe("help");
});
