import { UsageError } from "@sluice/harness/command-line";
import { expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";

it("the command line tries every manager on every Node.js unless one is named", () => {
  expect(parseCommandLine([])).toEqual({
    managers: ["npm", "pnpm", "yarn-1", "yarn-4", "yarn-pnp", "bun"],
    nodes: ["22", "24"],
    without: [],
  });
  const one = ["--manager", "yarn-4", "--node", "22", "--without", "a", "--without", "b"];
  expect(parseCommandLine(one)).toEqual({ managers: ["yarn-4"], nodes: ["22"], without: ["a", "b"] });
  expect(parseCommandLine(["--help"])).toBe("help");
});

it.each([[["--manager", "cargo"]], [["--node", "18"]], [["--colour"]]])(
  "the command line refuses %j",
  (args) => {
    expect(() => parseCommandLine(args)).toThrow(UsageError);
  },
);
