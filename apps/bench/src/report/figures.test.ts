import { expect, it } from "vitest";
import { count, millis, threeDigits } from "./figures.ts";

it("prints counts with thousands apart", () => {
  expect(count(97_000.4)).toBe("97,000");
  expect(count(Number.NaN)).toBe("-");
});

it.each([
  [0, "0"],
  [0.0456, "0.046"],
  [1.234, "1.23"],
  [12.34, "12.3"],
  [1234.5, "1,235"],
])("prints %d as %s", (value, text) => {
  expect(threeDigits(value)).toBe(text);
});

it("says of a time that its clock cannot see only that it is smaller", () => {
  expect(millis(0, 1)).toBe("<1");
  expect(millis(1, 1)).toBe("1.00");
  expect(millis(0.42)).toBe("0.420");
});
