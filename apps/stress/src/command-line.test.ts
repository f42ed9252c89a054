import { expect, it } from "vitest";
import { LOAD_MAX, parseCommandLine } from "./command-line.ts";

it("runs files 20 times beside 8 processes unless it is told otherwise", () => {
  expect(parseCommandLine(["a.test.ts", "b.test.ts"])).toEqual({
    files: ["a.test.ts", "b.test.ts"],
    times: 20,
    load: 8,
  });
  expect(parseCommandLine(["a.test.ts", "--times", "3", "--load", "0"])).toMatchObject({ times: 3, load: 0 });
});

it.each([
  [[], /Name one/],
  [["a.test.ts", "--times", "0"], /--times must be a whole number/],
  [["a.test.ts", "--load", "-1"], /--load/],
  [["a.test.ts", "--load", `${LOAD_MAX + 1}`], /--load must be a whole number, from 0 to 64/],
  [["a.test.ts", "--quick"], /--quick/],
])("refuses %j", (args, words) => {
  expect(() => parseCommandLine(args)).toThrow(words);
});

it("explains itself", () => {
  expect(parseCommandLine(["--help"])).toBe("help");
});
