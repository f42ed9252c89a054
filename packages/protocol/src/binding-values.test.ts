import { describe, expect, it } from "vitest";
import { toDelaySeconds, toOptions } from "./binding-values.ts";

const OUT_OF_RANGE = new TypeError(
  "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
);

describe("delaySeconds (spec cloudflare-queues 1.4)", () => {
  it.each<[unknown, number | undefined]>([
    [undefined, undefined],
    [0, 0],
    [null, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    ["abc", 0],
    [{}, 0],
    [1.9, 1],
    [-0.5, 0],
    ["5", 5],
    [true, 1],
    [[4], 4],
    [-3, -3],
    [86_401, 86_401],
    [2_147_483_647.5, 2_147_483_647],
    [-2_147_483_648.5, -2_147_483_648],
  ])("reads %o as %o", (value, seconds) => {
    expect(toDelaySeconds(value)).toBe(seconds);
  });

  it.each([2_147_483_648, -2_147_483_649, 1e12])("is out of range at %i", (value) => {
    expect(() => toDelaySeconds(value)).toThrow(OUT_OF_RANGE);
  });

  it("throws what ToNumber throws", () => {
    expect(() => toDelaySeconds(3n)).toThrow(new TypeError("Cannot convert a BigInt value to a number"));
    expect(() => toDelaySeconds(Symbol())).toThrow(
      new TypeError("Cannot convert a Symbol value to a number"),
    );
  });
});

describe("options", () => {
  it.each([undefined, null, {}, [], () => 1])("may be %o", (value) => {
    expect(toOptions(value, "no").toString).toBeDefined();
  });

  it.each([5, "x", true, 10n, Symbol()])("may not be %o", (value) => {
    expect(() => toOptions(value, "not of type 'SendOptions'")).toThrow(
      new TypeError("not of type 'SendOptions'"),
    );
  });
});
