import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compares, FILTER_LENGTH_MAX, type FilterTerm, MESSAGE_STATES, parseFilter } from "./filter.ts";

const HOUR = 3_600_000;

const text = (body: string): FilterTerm => ({ field: "body", text: body });
const json = (name: string, value: string, isQuoted = false): FilterTerm => ({
  field: "json",
  name,
  value,
  isQuoted,
});

const id = (prefix: string, value: string, isQuoted = false): FilterTerm => ({
  field: "id",
  prefix,
  value,
  isQuoted,
});

describe("a filter", () => {
  it.each<[string, FilterTerm[]]>([
    ["", []],
    ["  \t ", []],
    ["state:delayed", [{ field: "state", state: "delayed" }]],
    ["id:3F2A", [id("3f2a", "3F2A")]],
    ["id:00000000-0000-4000", [id("0000000000004000", "00000000-0000-4000")]],
    ['id:"1000"', [id("1000", "1000", true)]],
    ["id:order-7", [id("order-7", "order-7")]],
    ["id:-", [id("-", "-")]],
    ["Id:order-7", [json("Id", "order-7")]],
    ['body:"two words"', [{ field: "body", text: "two words" }]],
    ["lamp", [{ field: "body", text: "lamp" }]],
    ["error:declined", [{ field: "error", text: "declined" }]],
    ['errorGroup:"order # gone"', [{ field: "errorGroup", like: "order # gone" }]],
    ['errorGroup:""', [{ field: "errorGroup", like: "" }]],
    ['error:"TypeError: card declined"', [{ field: "error", text: "TypeError: card declined" }]],
    ['"a:b \\"c\\" \\\\"', [{ field: "body", text: 'a:b "c" \\' }]],
    ["attr.kind:order", [{ field: "attr", name: "kind", value: "order" }]],
    ['attr.a.b:"x y"', [{ field: "attr", name: "a.b", value: "x y" }]],
    ["attr.state:x:y", [{ field: "attr", name: "state", value: "x:y" }]],
    ["attempts:2", [{ field: "attempts", is: "=", count: 2 }]],
    ["attempts:=2", [{ field: "attempts", is: "=", count: 2 }]],
    ["attempts:>=10", [{ field: "attempts", is: ">=", count: 10 }]],
    ["age:>1h30m", [{ field: "age", is: ">", ms: 1.5 * HOUR }]],
    ["age:<=2d", [{ field: "age", is: "<=", ms: 48 * HOUR }]],
    ["age:<250ms", [{ field: "age", is: "<", ms: 250 }]],
    [
      "from:orders group:g-1",
      [
        { field: "from", queue: "orders" },
        { field: "group", group: "g-1" },
      ],
    ],
    ["orderId:20042", [json("orderId", "20042")]],
    ['"orderId":20042', [json("orderId", "20042")]],
    ['"orderId": 20042,', [json("orderId", "20042")]],
    [
      '"orderId":20042,"kind":"rush" lamp',
      [json("orderId", "20042"), json("kind", "rush", true), text("lamp")],
    ],
    ["customer.id:42", [json("customer.id", "42")]],
    ['item:"two words"', [json("item", "two words", true)]],
    ['note:""', [json("note", "", true)]],
    ["at:2026-11-26T20:45:16Z", [json("at", "2026-11-26T20:45:16Z")]],
    ["größe:3", [json("größe", "3")]],
    ["toString:x", [json("toString", "x")]],
    ["body.state:paid", [json("state", "paid")]],
    ['"state":paid', [json("state", "paid")]],
    ['"attr.kind":order', [json("attr.kind", "order")]],
    ['"10:30":1', [json("10:30", "1")]],
    ["stats:5 page:2 ip:10", [json("stats", "5"), json("page", "2"), json("ip", "10")]],
  ])("%s is read", (text, filter) => {
    expect(parseFilter(text)).toEqual({ ok: true, filter });
  });

  it.each<[string, number, string]>([
    ["state:done", 7, "state:ready, state:delayed, state:leased or state:finished"],
    [
      "lamp  stat:ready",
      7,
      'Did you mean state:ready? A field of the body that is called so stands in quotes: "stat":ready.',
    ],
    ["sate:ready", 1, "Did you mean state:ready?"],
    ["State:ready", 1, "Did you mean state:ready?"],
    ["Id:3f2a", 1, "Did you mean id:3f2a?"],
    ["attempt:>2", 1, "Did you mean attempts:>2?"],
    ['groups:"a b"', 1, 'Did you mean group:"a b"?'],
    ["10:30", 1, 'stands in quotes: "10:30"'],
    ["attr:x", 1, "attr.NAME:value"],
    ['attr.x:""', 8, "attr.NAME:value"],
    ['state:""', 7, "needs a value: state:ready"],
    ["orderId:", 9, "needs a value."],
    ['"orderId":', 11, "needs a value."],
    ['"orderId": ', 12, "needs a value."],
    ['"":x', 1, "needs a name"],
    ["body.:x", 1, "needs a name"],
    ['"a":{"b":1}', 6, "stands in quotes"],
    ['"a":"b"c', 8, "blank"],
    ["http://x", 1, 'stands in quotes: "http://x"'],
    ["constructor:", 13, "needs a value."],
    ["state:", 7, "needs a value: state:ready"],
    ["error:", 7, 'needs a value: error:"card declined"'],
    ["attr.x:", 8, "attr.NAME:value"],
    ["attr.:x", 1, "attr.NAME:value"],
    ["attempts:many", 10, "attempts:>2"],
    ["attempts:>", 10, "attempts:>2"],
    ["age:1h", 5, "age:>1h"],
    ["age:>1", 5, '"ms", "s", "m", "h" and "d"'],
    ["age:>", 5, "age:>1h"],
    ['body:"open', 6, "not closed"],
    ['"a"b', 4, "blank"],
    ['a"b', 2, "stands in quotes"],
    ['"a\\n"', 3, "backslash"],
    ['ok "a\\', 6, "backslash"],
    ['""', 1, "no text"],
    ["x".repeat(FILTER_LENGTH_MAX + 1), FILTER_LENGTH_MAX + 1, "at most"],
  ])("%s is refused at column %i, with what would be right", (text, column, right) => {
    const parsed = parseFilter(text);
    expect(parsed).toEqual({ ok: false, column, message: expect.stringContaining(right) });
  });

  it("may have as many characters as the limit", () => {
    expect(parseFilter("x".repeat(FILTER_LENGTH_MAX)).ok).toBe(true);
  });

  const value = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  const is = fc.constantFrom(">" as const, ">=" as const, "<" as const, "<=" as const);
  const term: fc.Arbitrary<FilterTerm> = fc.oneof(
    fc.record({ field: fc.constant("state" as const), state: fc.constantFrom(...MESSAGE_STATES) }),
    fc.stringMatching(/^[0-9a-f]{1,32}$/).map((prefix) => id(prefix, prefix)),
    fc.record({ field: fc.constantFrom("body" as const, "error" as const), text: value }),
    fc.record({ field: fc.constant("errorGroup" as const), like: value }),
    fc.record({ field: fc.constant("attr" as const), name: fc.stringMatching(/^[\w.-]{1,12}$/), value }),
    fc.record({
      field: fc.constant("attempts" as const),
      is: fc.oneof(is, fc.constant("=" as const)),
      count: fc.nat(999_999_999),
    }),
    fc.record({ field: fc.constant("age" as const), is, ms: fc.nat(999_999_999) }),
    fc.record({ field: fc.constant("from" as const), queue: value }),
    fc.record({ field: fc.constant("group" as const), group: value }),
    fc.record({ field: fc.constant("json" as const), name: value, value, isQuoted: fc.constant(true) }),
    fc.record({
      field: fc.constant("json" as const),
      name: value,
      value: fc.stringMatching(/^[\w.+-]{1,12}$/),
      isQuoted: fc.constant(false),
    }),
  );

  it("is read back as whatever terms it was written for", () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 8 }), fc.constantFrom(" ", "  ", "\t"), (filter, blank) => {
        const text = filter.map(written).join(blank);
        fc.pre(text.length <= FILTER_LENGTH_MAX);
        expect(parseFilter(text)).toEqual({ ok: true, filter });
      }),
      { numRuns: 1_000 },
    );
  });

  it("a filter of any text is read or refused at a column of it", () => {
    const words = fc.array(
      fc.constantFrom("state:", "age:>", "attempts:", "attr.", '"', "\\", " ", ":", "1h", "ready", "ü"),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join("");
        const parsed = parseFilter(text);
        if (parsed.ok) return;
        expect(parsed.column).toBeGreaterThanOrEqual(1);
        expect(parsed.column).toBeLessThanOrEqual(text.length + 1);
        expect(parsed.message).toMatch(/\.$/);
      }),
      { numRuns: 1_000 },
    );
  });
});

it.each([
  [1, ">", false],
  [2, ">", false],
  [3, ">", true],
  [2, ">=", true],
  [1, ">=", false],
  [2, "<", false],
  [1, "<", true],
  [2, "<=", true],
  [3, "<=", false],
  [2, "=", true],
  [3, "=", false],
] as const)("%i %s 2 is %s", (number, is, expected) => {
  expect(compares(number, is, 2)).toBe(expected);
});

function written(term: FilterTerm): string {
  const text = (value: string) => `"${value.replace(/["\\]/g, "\\$&")}"`;
  switch (term.field) {
    case "state":
      return `state:${term.state}`;
    case "id":
      return `id:${term.prefix}`;
    case "body":
    case "error":
      return `${term.field}:${text(term.text)}`;
    case "errorGroup":
      return `errorGroup:${text(term.like)}`;
    case "attr":
      return `attr.${term.name}:${text(term.value)}`;
    case "attempts":
      return `attempts:${term.is}${term.count}`;
    case "age":
      return `age:${term.is}${term.ms}ms`;
    case "from":
      return `from:${text(term.queue)}`;
    case "group":
      return `group:${text(term.group)}`;
    case "json":
      return `${text(term.name)}:${term.isQuoted ? text(term.value) : term.value}`;
  }
}
