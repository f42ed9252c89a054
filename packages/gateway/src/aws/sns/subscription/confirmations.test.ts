import { expect, it } from "vitest";
import { isToken, newToken } from "./confirmations.ts";

it("a new token is one, and no other", () => {
  const token = newToken();
  expect(isToken(token)).toBe(true);
  expect(newToken()).not.toBe(token);
});

it.each(["", "x", "0".repeat(287), "0".repeat(289), "G".repeat(288)])("%j is no token", (text) => {
  expect(isToken(text)).toBe(false);
});
