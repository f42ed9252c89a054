import { expect, it } from "vitest";
import { devVarsFile, setVariables } from "./broker-settings.ts";

it("a variable that is unset or empty is not handed on", () => {
  expect(setVariables(["A", "B", "C"], { A: "1", B: "", D: "4" })).toEqual({ A: "1" });
});

it("a file of variables keeps every value as it is", () => {
  expect(devVarsFile({ A: '$B "c" #d', B: "it's", C: "two\nlines" })).toBe(
    `A='$B "c" #d'\nB="it's"\nC="two\\nlines"\n`,
  );
});
