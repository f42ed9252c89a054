import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesFilterPolicy } from "./match.ts";
import { FILTER_POLICY_COMBINATIONS_MAX, parseFilterPolicy } from "./parse.ts";

type Attributes = Readonly<Record<string, readonly [type: string, value: string]>>;

function attributesMatch(policy: unknown, attributes: Attributes): boolean {
  const entries = Object.entries(attributes).map(([name, [DataType, value]]) => [
    name,
    DataType.startsWith("Binary")
      ? { DataType, BinaryValue: new TextEncoder().encode(value) }
      : { DataType, StringValue: value },
  ]);
  const message = { attributes: Object.fromEntries(entries), body: "" };
  return matchesFilterPolicy(
    parseFilterPolicy(JSON.stringify(policy), "MessageAttributes"),
    "MessageAttributes",
    message,
  );
}

function bodyMatches(policy: unknown, body: unknown): boolean {
  return textMatches(policy, JSON.stringify(body));
}

function textMatches(policy: unknown, body: string): boolean {
  const parsed = parseFilterPolicy(JSON.stringify(policy), "MessageBody");
  return matchesFilterPolicy(parsed, "MessageBody", { attributes: {}, body });
}

describe("one condition (spec sns-delivery 9.5)", () => {
  it.each([
    ["rugby", "rugby", true],
    ["rugby", "Rugby", false],
    ["100", 100, false],
    [100, 100, true],
    [100, 100.0000001, false],
    [100, "100", false],
    [true, true, true],
    [true, "true", false],
    [null, null, true],
    [null, "null", false],
    [{ prefix: "bas" }, "baseball", true],
    [{ prefix: "bas" }, "tennis", false],
    [{ prefix: "1" }, 12, false],
    [{ suffix: "ball" }, "baseball", true],
    [{ suffix: "ball" }, "balloon", false],
    [{ "equals-ignore-case": "TenNis" }, "tENnIS", true],
    [{ "equals-ignore-case": "tennis" }, "tennis!", false],
    [{ wildcard: "*ball" }, "ball", true],
    [{ wildcard: "base*" }, "baseball", true],
    [{ wildcard: "b*e*l" }, "baseball", true],
    [{ wildcard: "b*z*l" }, "baseball", false],
    [{ wildcard: "a*a" }, "a", false],
    [{ wildcard: "a*b*b" }, "ab", false],
    [{ wildcard: "a*bc*c" }, "abc", false],
    [{ wildcard: "*BALL" }, "baseball", false],
    [{ wildcard: "ball" }, "baseball", false],
    [{ numeric: ["=", 301.5] }, 301.5, true],
    [{ numeric: ["=", 301.5] }, 3.015e2, true],
    [{ numeric: ["=", 301.5] }, "301.5", false],
    [{ numeric: [">", 0, "<=", 150] }, 0, false],
    [{ numeric: [">", 0, "<=", 150] }, 0.00001, true],
    [{ numeric: [">", 0, "<=", 150] }, 150, true],
    [{ numeric: [">", 0, "<=", 150] }, 150.00001, false],
    [{ numeric: [">=", -5, "<", 5] }, -5, true],
    [{ numeric: [">=", -5, "<", 5] }, 5, false],
    [{ numeric: ["<", 10] }, 9, true],
    [{ numeric: ["<", 10] }, 10, false],
    [{ cidr: "10.0.0.0/24" }, "10.0.0.255", true],
    [{ cidr: "10.0.0.0/24" }, "10.0.1.0", false],
    [{ cidr: "10.0.0.0/24" }, "010.0.0.1", false],
    [{ cidr: "0.0.0.0/0" }, "255.255.255.255", true],
    [{ cidr: "0.0.0.0/0" }, "::1", false],
    [{ cidr: "2001:db8::/32" }, "2001:db8:ffff::1", true],
    [{ cidr: "2001:db8::/32" }, "2001:db9::", false],
    [{ cidr: "::ffff:10.0.0.0/104" }, "::ffff:10.1.2.3", true],
    [{ "anything-but": ["rugby", "tennis"] }, "baseball", true],
    [{ "anything-but": ["rugby", "tennis"] }, "rugby", false],
    [{ "anything-but": "rugby" }, "rugby", false],
    [{ "anything-but": [100, 500] }, 101, true],
    [{ "anything-but": [100, 500] }, 100, false],
    [{ "anything-but": "rugby" }, null, false],
    [{ "anything-but": { prefix: "order-" } }, "data-entry", true],
    [{ "anything-but": { prefix: "order-" } }, "order-cancelled", false],
    [{ "anything-but": { suffix: "ball" } }, "baseball", false],
    [{ "anything-but": { wildcard: "*ball" } }, "baseball", false],
    [{ "anything-but": { wildcard: "*ball" } }, "tennis", true],
    [{ "anything-but": { "equals-ignore-case": "TENNIS" } }, "tennis", false],
    [{ exists: true }, "x", true],
    [{ exists: true }, 0, true],
    [{ exists: true }, false, true],
    [{ exists: true }, null, false],
    [{ exists: true }, [], false],
    [{ exists: true }, "", false],
    [{ exists: true }, { a: 1 }, false],
    [{ exists: false }, "x", false],
    [{ exists: false }, null, true],
  ])("the condition %j of %j matches: %s", (condition, value, expected) => {
    expect(bodyMatches({ key: [condition] }, { key: value, other: 1 })).toBe(expected);
  });

  it("a property that is not there matches exists: false alone", () => {
    for (const condition of ["a", null, { "anything-but": "a" }, { prefix: "" }, { exists: true }]) {
      expect(bodyMatches({ key: [condition] }, { other: 1 })).toBe(false);
    }
    expect(bodyMatches({ key: [{ exists: false }] }, { other: 1 })).toBe(true);
    expect(bodyMatches({ key: [{ exists: false }, "a"] }, { other: 1 })).toBe(true);
  });

  it("a property of every object is none of the message", () => {
    expect(bodyMatches({ constructor: [{ exists: true }] }, {})).toBe(false);
    expect(textMatches({ toString: [{ exists: false }] }, '{"__proto__":{"a":1}}')).toBe(true);
  });
});

describe("message attributes", () => {
  it("compares by type: String, Number, String.Array, each with a label or without", () => {
    expect(attributesMatch({ a: ["x"] }, { a: ["String", "x"] })).toBe(true);
    expect(attributesMatch({ a: ["x"] }, { a: ["String.label", "x"] })).toBe(true);
    expect(attributesMatch({ a: [{ numeric: [">", 0, "<=", 100] }] }, { a: ["Number", "99"] })).toBe(true);
    expect(attributesMatch({ a: [{ numeric: [">", 0, "<=", 100] }] }, { a: ["Number.int", "111"] })).toBe(
      false,
    );
    expect(attributesMatch({ a: [99] }, { a: ["Number", "99.0"] })).toBe(true);
    expect(attributesMatch({ a: ["value1"] }, { a: ["String.Array", '["value1","value2"]'] })).toBe(true);
    expect(attributesMatch({ a: ["value1"] }, { a: ["String.Array", '["value2","value3"]'] })).toBe(false);
    expect(attributesMatch({ a: [true, 7] }, { a: ["String.Array", "[7]"] })).toBe(true);
    expect(attributesMatch({ a: ["x"] }, { a: ["String.Array", "no JSON"] })).toBe(false);
  });

  it("of an array with anything-but no element may match", () => {
    const policy = { a: [{ "anything-but": ["rugby", "tennis"] }] };
    expect(attributesMatch(policy, { a: ["String.Array", '["baseball","football"]'] })).toBe(true);
    expect(attributesMatch(policy, { a: ["String.Array", '["rugby","baseball"]'] })).toBe(false);
    expect(attributesMatch(policy, { a: ["String.Array", "[]"] })).toBe(false);
  });

  it("every property has to match, and Binary is not looked at", () => {
    const policy = { store: ["fans"], event: [{ "anything-but": "cancelled" }] };
    expect(attributesMatch(policy, { store: ["String", "fans"], event: ["String", "placed"] })).toBe(true);
    expect(attributesMatch(policy, { store: ["String", "fans"] })).toBe(false);
    expect(attributesMatch({ a: [{ exists: true }] }, { a: ["Binary", "x"], b: ["String", "x"] })).toBe(
      false,
    );
  });

  it("a message without attributes matches nothing, not even exists: false", () => {
    expect(attributesMatch({ store: [{ exists: false }] }, { def: ["Number", "99"] })).toBe(true);
    expect(attributesMatch({ store: [{ exists: false }] }, {})).toBe(false);
    expect(attributesMatch({ store: [{ exists: false }] }, { bin: ["Binary", "x"] })).toBe(false);
    expect(attributesMatch({ attr1: [null, { "anything-but": "whatever" }] }, {})).toBe(false);
    expect(attributesMatch({}, {})).toBe(true);
  });

  it("names with dots are found as they are", () => {
    expect(attributesMatch({ "a.b": ["x"] }, { "a.b": ["String", "x"] })).toBe(true);
    expect(attributesMatch({ "a.b": ["x"], a: ["y"] }, { "a.b": ["String", "x"], a: ["String", "y"] })).toBe(
      true,
    );
    expect(attributesMatch({ "a.b": ["x"], a: ["y"] }, { "a.b": ["String", "x"] })).toBe(false);
  });
});

describe("the body of a message", () => {
  it("the body of a message that is no JSON object matches nothing", () => {
    for (const body of ["text", '"text"', "[]", "null", "{", ""]) {
      expect(textMatches({ a: [{ exists: false }] }, body)).toBe(false);
    }
  });

  it("nested properties match members at the same place", () => {
    const policy = {
      object: { key: [{ prefix: "auto-" }, "hardcodedvalue"], nested_key: [{ exists: false }] },
      test: [{ exists: false }],
    };
    expect(bodyMatches(policy, { object: { key: "auto-test" } })).toBe(true);
    expect(bodyMatches(policy, { object: { key: "hardcodedvalue" } })).toBe(true);
    expect(bodyMatches(policy, { object: { key: "test-auto" } })).toBe(false);
    expect(bodyMatches(policy, { object: { key: "auto-test" }, test: "just-exists" })).toBe(false);
    expect(bodyMatches(policy, { object: { key: "auto-test", nested_key: "just-exists" } })).toBe(false);
    expect(bodyMatches(policy, { object: { test: "auto-test" } })).toBe(false);
    expect(bodyMatches({ object: { key: [{ exists: false }] } }, {})).toBe(true);
  });

  it("dots in names are nesting, in the policy and in the message", () => {
    const policy = { "object.nested.test": ["string.value"] };
    for (const body of [
      { object: { nested: { test: "string.value" } } },
      { "object.nested.test": "string.value" },
      { "object.nested": { test: "string.value" } },
      { object: { "nested.test": "string.value" } },
    ]) {
      expect(bodyMatches(policy, body)).toBe(true);
    }
    expect(bodyMatches(policy, { object: { nested: { test: "string.notvalue" } } })).toBe(false);
    const two = { "a.b": [1], a: { c: [2] } };
    expect(bodyMatches(two, { a: { c: 2 }, "a.b": 1 })).toBe(true);
    expect(bodyMatches(two, { a: { c: 2, b: 3 }, "a.b": 1 })).toBe(true);
    expect(bodyMatches(two, { "a.c": 2, "a.b": 2 })).toBe(false);
  });

  it("the body of a message of an array, one element is enough, anything-but included", () => {
    const policy = { headers: { "route-to": ["queue1"] } };
    expect(bodyMatches(policy, { headers: { "route-to": ["queue1", "queue2"] } })).toBe(true);
    expect(bodyMatches(policy, { headers: { "route-to": ["queue3"] } })).toBe(false);
    expect(bodyMatches({ a: [{ "anything-but": "x" }] }, { a: ["x", "y"] })).toBe(true);
    expect(bodyMatches({ a: [{ "anything-but": "x" }] }, { a: ["x"] })).toBe(false);
  });

  it("the body of a message of an array of objects, one element has to have all properties, at any depth of arrays", () => {
    const policy = {
      Records: { s3: { object: { key: [{ prefix: "auto-" }] } }, eventName: [{ prefix: "ObjectCreated:" }] },
    };
    const record = (eventName: string, object: unknown) => ({ eventName, s3: { object } });
    const home = { key: "home-2314.xml" };
    const auto = { key: "auto-2314.xml" };
    expect(
      bodyMatches(policy, {
        Records: [record("ObjectCreated:Put", [[auto]]), record("ObjectRemoved:X", home)],
      }),
    ).toBe(true);
    expect(bodyMatches(policy, { Records: [record("ObjectRemoved:X", auto)] })).toBe(false);
    expect(
      bodyMatches(policy, { Records: [record("ObjectRemoved:X", auto), record("ObjectCreated:Put", home)] }),
    ).toBe(false);
  });

  it("one choice of $or has to match, and everything beside it", () => {
    const policy = {
      $or: [{ metricName: ["CPUUtilization", "ReadLatency"] }, { namespace: ["AWS/EC2", "AWS/ES"] }],
      detail: { scope: ["Service"], $or: [{ source: ["aws.cloudwatch"] }, { type: ["Alarm"] }] },
    };
    const ok = { metricName: "ReadLatency", detail: { scope: "Service", type: "Alarm" } };
    expect(bodyMatches(policy, ok)).toBe(true);
    expect(bodyMatches(policy, { ...ok, metricName: "x", namespace: "AWS/ES" })).toBe(true);
    expect(bodyMatches(policy, { ...ok, metricName: "x" })).toBe(false);
    expect(bodyMatches(policy, { ...ok, detail: { scope: "Service" } })).toBe(false);
    expect(bodyMatches(policy, { ...ok, detail: { type: "Alarm" } })).toBe(false);
  });

  it("$or is a name where it can be no operator", () => {
    expect(bodyMatches({ $or: [{ prefix: "a" }, { suffix: "b" }] }, { $or: "xb" })).toBe(true);
    expect(bodyMatches({ $or: ["a"] }, { $or: "a" })).toBe(true);
  });
});

describe("a hostile message", { timeout: 60_000 }, () => {
  /** As long as a message can be, about. */
  const COUNT = 20_000;
  const MATCH_MS_MAX = 20_000;

  function inTime(what: () => boolean): boolean {
    const beganAt = performance.now();
    const matches = what();
    expect(performance.now() - beganAt).toBeLessThan(MATCH_MS_MAX);
    return matches;
  }

  it("a hostile message with many objects and many members beside them is looked through once", () => {
    const members = Array.from({ length: COUNT }, (_, i) => [`a.x${i}`, i]);
    const body = { a: Array.from({ length: COUNT }, () => ({})), ...Object.fromEntries(members) };
    expect(inTime(() => bodyMatches({ a: { last: ["none"] } }, body))).toBe(false);
    expect(inTime(() => bodyMatches({ a: { [`x${COUNT - 1}`]: [COUNT - 1] } }, body))).toBe(true);
  });

  it("a hostile message with members beside each other's members at every level is looked through once", () => {
    const members = Array.from({ length: COUNT }, (_, i) => [`a.b.y${i}`, i]);
    const body = {
      a: Array.from({ length: COUNT }, (_, i) => ({ "b.z": i })),
      ...Object.fromEntries(members),
    };
    expect(inTime(() => bodyMatches({ "a.b.y1": [2] }, body))).toBe(false);
    expect(inTime(() => bodyMatches({ "a.b": { y1: [1], z: [COUNT - 1] } }, body))).toBe(true);
  });

  it("is compared with a long list in one step for each of its values", () => {
    const others = Array.from({ length: COUNT }, (_, i) => i);
    const policy = { a: [{ "anything-but": others }] };
    expect(inTime(() => bodyMatches(policy, { a: others }))).toBe(false);
    expect(inTime(() => bodyMatches(policy, { a: [...others, -1] }))).toBe(true);
  });

  it("is no address if it is longer than any, whatever dots and colons it has", () => {
    const policy = { a: [{ cidr: "::/0" }] };
    expect(inTime(() => bodyMatches(policy, { a: `:${".".repeat(250_000)}:` }))).toBe(false);
    expect(bodyMatches(policy, { a: "1111:2222:3333:4444:5555:6666:255.255.255.255" })).toBe(true);
  });

  it("a hostile message with many addresses is compared with many networks in time", () => {
    const policy = { a: Array<object>(FILTER_POLICY_COMBINATIONS_MAX).fill({ cidr: "::1/128" }) };
    expect(inTime(() => bodyMatches(policy, { a: Array<string>(2 * COUNT).fill("::2") }))).toBe(false);
    expect(inTime(() => bodyMatches(policy, { a: [...Array<string>(2 * COUNT).fill("::2"), "::1"] }))).toBe(
      true,
    );
  });

  it("a hostile message that nearly matches at each of its letters is compared with long wildcards in time", () => {
    const part = `${"a".repeat(700)}b${"a".repeat(700)}`;
    const policy = { a: Array<object>(FILTER_POLICY_COMBINATIONS_MAX).fill({ wildcard: `*${part}*` }) };
    expect(inTime(() => bodyMatches(policy, { a: "a".repeat(250_000) }))).toBe(false);
    expect(inTime(() => bodyMatches(policy, { a: `${"a".repeat(250_000)}${part}` }))).toBe(true);
  });

  it("is looked into as deep as the policy goes, however deep it is", () => {
    const depth = 60_000;
    const arrays = `${"[".repeat(depth)}1${"]".repeat(depth)}`;
    const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const policy = { [Array<string>(150).fill("a").join(".")]: [{ exists: true }] };
    expect(inTime(() => textMatches({ a: [1] }, `{"a":${arrays}}`))).toBe(true);
    expect(inTime(() => textMatches(policy, objects))).toBe(false);
    expect(inTime(() => bodyMatches(policy, { [Array<string>(depth).fill("a").join(".")]: 1 }))).toBe(false);
  });

  it("is looked through in time by a policy that has as many names as it may", () => {
    // Three names each: that of the choice, and both of the member. None is in any of the objects.
    const choices = Array.from({ length: FILTER_POLICY_COMBINATIONS_MAX }, (_, i) => ({
      [`a.k${i}`]: ["v"],
    }));
    expect(
      inTime(() => bodyMatches({ $or: choices }, { a: Array.from({ length: COUNT }, () => ({ z: "x" })) })),
    ).toBe(false);
  });
});

describe("properties of matching", () => {
  const letters = fc.string({ maxLength: 60, unit: fc.constantFrom("a", "b") });

  it("a wildcard finds a long text wherever it is, and nowhere else", () => {
    const long = fc.tuple(letters, letters).map(([one, other]) => `${one}aabaabaaabaabaaab${other}`);
    fc.assert(
      fc.property(letters, long, letters, (before, part, after) => {
        const text = `${before}${part}${after}`;
        expect(bodyMatches({ key: [{ wildcard: `*${part}*` }] }, { key: text })).toBe(true);
        for (const gap of [part.slice(1), part.slice(0, -1), `${part.slice(0, 9)}${part.slice(10)}`]) {
          const other = `${before}${gap}${after}`;
          expect(bodyMatches({ key: [{ wildcard: `*${part}*` }] }, { key: other })).toBe(
            other.includes(part),
          );
        }
      }),
    );
  });

  const word = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom("a", "b", "A", "*", ".") });

  it("a value that is not null matches itself or anything but itself, never both", () => {
    const scalar = fc.oneof(word, fc.integer(), fc.boolean());
    fc.assert(
      fc.property(scalar, scalar, (asked, value) => {
        const equal = bodyMatches({ key: [asked] }, { key: value });
        const other = bodyMatches({ key: [{ "anything-but": [asked] }] }, { key: value });
        expect([equal, other]).toEqual([asked === value, asked !== value]);
      }),
    );
  });

  it("a wildcard matches what the same regular expression matches", () => {
    fc.assert(
      fc.property(word, word, (pattern, value) => {
        const source = pattern.replace(/[.]/g, "\\.").replaceAll("*", ".*");
        const expected = new RegExp(`^${source}$`, "s").test(value);
        expect(bodyMatches({ key: [{ wildcard: pattern }] }, { key: value })).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it("a network has exactly the addresses with its first bits", () => {
    const v4 = fc.nat({ max: 0xff_ff_ff_ff });
    const text = (address: number) =>
      [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
    fc.assert(
      fc.property(v4, v4, fc.integer({ min: 0, max: 32 }), (network, address, bits) => {
        const size = 2 ** (32 - bits);
        const expected = Math.floor(network / size) === Math.floor(address / size);
        const policy = { key: [{ cidr: `${text(network)}/${bits}` }] };
        expect(bodyMatches(policy, { key: text(address) })).toBe(expected);
      }),
    );
  });

  it("no message of whatever shape makes it fail", () => {
    const policy = { a: [{ "anything-but": { prefix: "a" } }, { cidr: "10.0.0.0/8" }], "b.c": { d: [1] } };
    fc.assert(
      fc.property(fc.json(), (body) => {
        expect(typeof textMatches(policy, body)).toBe("boolean");
      }),
    );
    expect(textMatches(policy, `{"a":${"[".repeat(20_000)}1${"]".repeat(20_000)}}`)).toBe(false);
  });
});
