import { expect, it } from "vitest";
import { isToken, newToken, regionOfToken } from "./token.ts";

it.each(["us-east-1", "us-gov-northeast-1", "x"])("a token of %s is one, and tells its region", (region) => {
  const token = newToken(region);
  expect([isToken(token), regionOfToken(token)]).toEqual([true, region]);
  expect(newToken(region)).not.toBe(token);
});

it.each(["", "x", "0".repeat(287), "0".repeat(289), "G".repeat(288)])("%j is no token", (text) => {
  expect(isToken(text)).toBe(false);
});
