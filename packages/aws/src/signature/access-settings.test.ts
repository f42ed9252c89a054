import { describe, expect, it } from "vitest";
import { parseAccessKeys, parseAccountId } from "./access-settings.ts";

describe("access keys", () => {
  it("access keys are pairs separated by commas; a secret may have colons", () => {
    expect(parseAccessKeys("A:one, B:two:three", () => false)).toEqual(
      new Map([
        ["A", "one"],
        ["B", "two:three"],
      ]),
    );
  });

  it.each(["", "A", "A:", ":one", "A:one,", "A:one,B"])("%j are none", (text) => {
    expect(() => parseAccessKeys(text, () => false)).toThrow(RangeError);
  });

  it("access keys have no ids that are reserved", () => {
    const isReserved = (id: string) => id === "local";
    expect(() => parseAccessKeys("A:one,local:two", isReserved)).toThrow('names a key "local"');
    expect(parseAccessKeys("locals:two", isReserved).size).toBe(1);
  });
});

describe("an account", () => {
  it.each(["12345678901", "1234567890123", "12345678901a", ""])(
    "has twelve digits, which %j has not",
    (text) => {
      expect(() => parseAccountId(text)).toThrow("SLUICE_AWS_ACCOUNT_ID must have twelve digits");
    },
  );

  it("an account of twelve digits is taken", () => {
    expect(parseAccountId("123456789012")).toBe("123456789012");
  });
});
