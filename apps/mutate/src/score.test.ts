import { expect, it } from "vitest";
import { scoreOf } from "./score.ts";

it("counts a mutant as found when a test fails or never ends, and as missed when none notices or reaches it", () => {
  expect(scoreOf(["Killed", "Timeout", "Killed", "Survived", "NoCoverage"])).toBe(60);
});

it("leaves out mutants that no test could have found", () => {
  expect(scoreOf(["Killed", "Ignored", "CompileError", "RuntimeError", "Pending"])).toBe(100);
});

it("is no number where nothing was changed", () => {
  expect(scoreOf(["Ignored"])).toBeNaN();
});
