import { describe, expect, it } from "vitest";
import { parseCommandLine, UsageError } from "./command-line.ts";

describe("the command line", () => {
  it("has defaults for everything but the command", () => {
    expect(parseCommandLine(["kills"], 7)).toEqual({ kind: "kills", kills: 100, seed: 7, lifeMsMax: 500 });
    expect(parseCommandLine(["freezes"], 7)).toEqual({
      kind: "freezes",
      freezes: 10,
      seed: 7,
      frozenMsMax: 30_000,
    });
    expect(parseCommandLine(["disk-full"], 7)).toEqual({ kind: "disk-full", times: 10, seed: 7 });
    expect(parseCommandLine(["sqs-swaps"], 7)).toEqual({
      kind: "sqs-swaps",
      swaps: 10,
      seed: 7,
      lifeMsMax: 500,
    });
    expect(parseCommandLine(["sqs-damage"], 7)).toEqual({ kind: "sqs-damage", cases: 28, from: 1, seed: 7 });
    expect(parseCommandLine(["damage"], 7)).toEqual({ kind: "damage", cases: 28, from: 1, seed: 7 });
  });

  it("takes options, behind the dashes that pnpm passes on too", () => {
    const args = ["--", "kills", "--kills", "1000", "--seed", "3", "--life-ms", "0"];
    expect(parseCommandLine(args, 7)).toEqual({ kind: "kills", kills: 1_000, seed: 3, lifeMsMax: 0 });
  });

  it("answers with help when it is asked for or nothing is", () => {
    expect([parseCommandLine([], 7), parseCommandLine(["kills", "--help"], 7)]).toEqual(["help", "help"]);
  });

  it.each([
    [["dance"], 'There is no command "dance".'],
    [["kills", "freezes"], "One command at a time."],
    [["kills", "--kills", "0"], "--kills must be a whole number, 1 or more."],
    [["kills", "--kills", "1.5"], "--kills must be a whole number, 1 or more."],
    [["kills", "--seed", "-1"], /--seed/],
    [["kills", "--colour"], /--colour/],
  ])("refuses %j", (args, message) => {
    expect(() => parseCommandLine(args, 7)).toThrow(UsageError);
    expect(() => parseCommandLine(args, 7)).toThrow(message);
  });
});
