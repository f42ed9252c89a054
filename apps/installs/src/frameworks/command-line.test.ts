import { UsageError } from "@sluice/harness/command-line";
import { expect, it } from "vitest";
import { parseCommandLine } from "./command-line.ts";

it("the command line tries every framework unless one is named", () => {
  expect(parseCommandLine([])).toEqual({ frameworks: ["next", "nuxt", "sveltekit"] });
  expect(parseCommandLine(["--framework", "nuxt"])).toEqual({ frameworks: ["nuxt"] });
  expect(parseCommandLine(["-h"])).toBe("help");
});

it.each([[["--framework", "rails"]], [["--bundler"]]])("the command line refuses %j", (args) => {
  expect(() => parseCommandLine(args)).toThrow(UsageError);
});
