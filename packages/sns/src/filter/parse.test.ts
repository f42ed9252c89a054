import { describe, expect, it } from "vitest";
import {
  FILTER_POLICY_BYTES_MAX,
  FILTER_POLICY_LEVELS_MAX,
  FILTER_POLICY_NAMES_MAX,
  filterPolicyFault,
} from "./parse.ts";
import type { FilterPolicyScope } from "./policy.ts";

function faultOf(policy: unknown, scope: FilterPolicyScope = "MessageBody"): string | null {
  return faultOfText(JSON.stringify(policy), scope);
}

function faultOfText(text: string, scope: FilterPolicyScope = "MessageBody"): string | null {
  return filterPolicyFault(text, scope);
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);

describe("filter policies that SNS refuses, in its words (spec sns-delivery 9.4)", () => {
  it.each([
    [{ key: [["value"]] }, "Match value must be String, number, true, false, or null"],
    [{ key: [{ "wrong-operator": true }] }, "Unrecognized match type wrong-operator"],
    [{ key: [{ suffix: "value", prefix: "value2" }] }, "Only one key allowed in match expression"],
    [{ key: [{}] }, "Only one key allowed in match expression"],
    [{ key: [{ suffix: 100 }] }, "suffix match pattern must be a string"],
    [{ key: [{ prefix: null }] }, "prefix match pattern must be a string"],
    [{ key: [{ "equals-ignore-case": [] }] }, "equals-ignore-case match pattern must be a string"],
    [{ key: [{ wildcard: ["*"] }] }, "wildcard match pattern must be a string"],
    [{ key: { suffix: "value" } }, '"suffix" must be an object or an array'],
    [{ key: "value" }, '"key" must be an object or an array'],
    [{ key: null }, '"key" must be an object or an array'],
    [{ key: [] }, "Empty arrays are not allowed"],
    [{ key: [{ exists: null }] }, "exists match pattern must be either true or false."],
    [{ key: [{ exists: "no" }] }, "exists match pattern must be either true or false."],
    [{ key: [{ numeric: [] }] }, "Invalid member in numeric match: ]"],
    [{ key: [{ numeric: ["operator"] }] }, "Unrecognized numeric range operator: operator"],
    [{ key: [{ numeric: [1, "<="] }] }, "Invalid member in numeric match: 1"],
    [{ key: [{ numeric: ["=", "000"] }] }, "Value of equals must be numeric"],
    [{ key: [{ numeric: [">="] }] }, "Value of >= must be numeric"],
    [{ key: [{ numeric: ["<", 100, ">", 10] }] }, "Too many elements in numeric expression"],
    [{ key: [{ numeric: [">=", 1, ">", 2] }] }, "Bad numeric range operator: >"],
    [{ key: [{ numeric: [">", 3, "<", 1] }] }, "Bottom must be less than top"],
    [{ key: [{ numeric: [">", 3, "<", 3] }] }, "Bottom must be less than top"],
    [{ key: [{ numeric: [">", 20, "<="] }] }, "Value of <= must be numeric"],
    [{ key: [{ numeric: [">", 20, 30] }] }, "Bad value in numeric range: 30"],
    [{ key: [{ numeric: [">", 20, "test"] }] }, "Bad numeric range operator: test"],
    [{ key: [{ numeric: [">", "20", "<", "30"] }] }, "Value of > must be numeric"],
    [{ key: [{ numeric: [">", 20, "<", "30"] }] }, "Value of < must be numeric"],
    [{ key: [{ numeric: [">", 20, "<", 30, "<", 50] }] }, "Too many terms in numeric range expression"],
    [{ key: [{ cidr: 1 }] }, "prefix match pattern must be a string"],
    [{ key: [{ cidr: "10.0.0.0" }] }, "Malformed CIDR, one '/' required"],
    [{ key: [{ cidr: "10.0.0.0/a" }] }, "Malformed CIDR, mask bits must be an integer"],
    [{ key: [{ cidr: "10.0.0/8" }] }, "Nonstandard IP address: 10.0.0"],
    [{ key: [{ cidr: "10.0.0.0/33" }] }, "Nonstandard IP address: 10.0.0.0"],
    [{ key: [{ "anything-but": { numeric: ["=", 1] } }] }, "Unsupported anything-but pattern: numeric"],
    [{ key: [{ "anything-but": [] }] }, "Empty arrays are not allowed"],
    [
      { key: [{ "anything-but": [{ prefix: "a" }] }] },
      "Match value must be String, number, true, false, or null",
    ],
    [[{ key: ["a"] }], "Filter is not an object"],
    ["text", "Filter is not an object"],
  ])("SNS refuses %j: %s", (policy, reason) => {
    expect(faultOf(policy)).toBe(`FilterPolicy: ${reason}`);
  });

  it("a text that is no JSON", () => {
    expect(faultOfText("{")).toMatch(/^FilterPolicy: failed to parse JSON\. /);
  });

  it("nesting with the scope MessageAttributes, without the name of the attribute before it", () => {
    const policy = { object: { key: [{ prefix: "auto-" }] } };
    expect(faultOf(policy, "MessageAttributes")).toBe(
      "Filter policy scope MessageAttributes does not support nested filter policy",
    );
    expect(faultOf(policy, "MessageBody")).toBeNull();
  });
});

describe("the size of a filter policy (spec sns-delivery 9.5)", () => {
  it("a policy may have five keys at the top, not six; nested ones are not counted", () => {
    const five = { a: ["1"], b: ["1"], c: ["1"], d: ["1"], e: { f: ["1"], g: ["1"], h: ["1"] } };
    expect(faultOf(five)).toBeNull();
    expect(faultOf({ ...five, i: ["1"] })).toBe("FilterPolicy: Filter policy can not have more than 5 keys");
  });

  it.each([
    [{ a: many(149) }, true],
    [{ a: many(150) }, true],
    [{ a: many(151) }, false],
    [{ a: many(15), b: many(10) }, true],
    [{ a: many(19), b: many(8) }, false],
    [{ a: { b: { c: many(4) } }, d: { e: many(3) } }, true],
    [{ a: { b: { c: many(4) } }, d: { e: many(3) }, f: many(3) }, false],
    [{ $or: [{ a: many(75) }, { b: many(75) }] }, true],
    [{ $or: [{ a: many(75) }, { b: many(76) }] }, false],
    [{ a: many(2), $or: [{ b: many(37) }, { c: many(38) }] }, true],
    [{ a: many(2), $or: [{ b: many(38) }, { c: many(38) }] }, false],
  ])("a policy may have 150 combinations, not 151 (%#)", (policy, isAccepted) => {
    expect(faultOf(policy)).toBe(isAccepted ? null : "FilterPolicy: Filter policy is too complex");
  });

  it("a policy may have 256 KB of text", () => {
    const padded = (bytes: number) => `{"a":["${"x".repeat(bytes - 10)}"]}`;
    expect(faultOfText(padded(FILTER_POLICY_BYTES_MAX))).toBeNull();
    expect(faultOfText(padded(FILTER_POLICY_BYTES_MAX + 1))).toBe("FilterPolicy: larger than 262144 bytes");
  });

  const dotted = (levels: number) => Array<string>(levels).fill("a").join(".");
  const TOO_DEEP = "FilterPolicy: Filter policy is too complex: 150 levels at most";
  const TOO_MANY = "FilterPolicy: Filter policy is too complex: 750 names at most";

  it.each([
    [FILTER_POLICY_LEVELS_MAX - 1, null],
    [FILTER_POLICY_LEVELS_MAX, null],
    [FILTER_POLICY_LEVELS_MAX + 1, TOO_DEEP],
  ])("%i levels, by nesting or by dots: %s", (levels, fault) => {
    expect(faultOfText(`${'{"a":'.repeat(levels)}["b"]${"}".repeat(levels)}`)).toBe(fault);
    expect(faultOf({ [dotted(levels)]: ["b"] })).toBe(fault);
    expect(faultOf({ [dotted(levels)]: ["b"] }, "MessageAttributes")).toBe(fault);
    expect(faultOf({ a: { a: { [dotted(levels - 2)]: ["b"] } } })).toBe(fault);
    const choices = { $or: [{ [dotted(levels - 1)]: ["b"] }, { b: ["c"] }] };
    expect(faultOf(choices)).toBe(fault);
  });

  it.each([
    [FILTER_POLICY_NAMES_MAX - 1, null],
    [FILTER_POLICY_NAMES_MAX, null],
    [FILTER_POLICY_NAMES_MAX + 1, TOO_MANY],
  ])("%i names in all, each level of one with dots counted: %s", (names, fault) => {
    const some = (count: number, prefix: string) =>
      Object.fromEntries(Array.from({ length: count / 2 }, (_, i) => [`${prefix}${i}.x`, ["v"]]));
    // The choices are a level of their own, and those of an odd number have one more name.
    const extra = names % 2 === 0 ? { z: ["v"] } : {};
    const even = names % 2 === 0 ? names - 2 : names - 1;
    expect(faultOf({ $or: [{ ...some(even, "a"), ...extra }, {}] })).toBe(fault);
  });

  it.each([2_000, 10_000, 100_000])(
    "is checked before %i levels take time or exhaust the stack",
    (levels) => {
      expect(faultOfText(`${'{"a":'.repeat(levels / 4)}["b"]${"}".repeat(levels / 4)}`)).toBe(TOO_DEEP);
      for (const scope of ["MessageBody", "MessageAttributes"] as const) {
        expect(faultOf({ [dotted(levels)]: ["b"] }, scope)).toBe(TOO_DEEP);
      }
    },
  );
});
