import { UsageError } from "@sluice/harness/command-line";
import { expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";

it("the command line runs 1,000 histories from seed 1 when it is asked for nothing", () => {
  expect(parseCommandLine([])).toEqual({ kind: "many", from: 1, seeds: 1_000, minutes: null, shards: false });
});

it("the command line runs the histories it is asked for", () => {
  expect(parseCommandLine(["--seeds", "5", "--from", "0"])).toEqual({
    kind: "many",
    from: 0,
    seeds: 5,
    minutes: null,
    shards: false,
  });
});

it("the command line runs histories of queues with shards alone", () => {
  expect(parseCommandLine(["--shards", "--seeds", "5"])).toMatchObject({ seeds: 5, shards: true });
});

it("the command line runs without another limit for the minutes it is asked for", () => {
  const command = parseCommandLine(["--minutes", "0.5"]);
  expect(command).toMatchObject({ from: 1, seeds: Number.MAX_SAFE_INTEGER, minutes: 0.5 });
});

it("the command line tells one history, plants bugs, and helps", () => {
  expect(parseCommandLine(["--seed", "42"])).toEqual({ kind: "one", seed: 42 });
  expect(parseCommandLine(["--planted", "--seeds", "9"])).toEqual({ kind: "planted", seeds: 9 });
  expect(parseCommandLine(["-h"])).toBe("help");
});

it.each([
  ["--seeds", "0"],
  ["--from", "-1"],
  ["--seed", ""],
  ["--minutes", "0"],
  ["--speed", "1"],
])("the command line refuses %s %s", (option, value) => {
  expect(() => parseCommandLine([`${option}=${value}`])).toThrow(UsageError);
});
