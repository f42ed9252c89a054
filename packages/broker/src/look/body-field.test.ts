import { Serializer } from "node:v8";
import { type ContentType, encodeBody, PackedIndex, PackedWriter } from "@sluice/protocol";
import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyField, hasField, NESTED_CHARACTERS_MAX, NESTED_TEXTS_MAX } from "./body-field.ts";
import { ByteText } from "./byte-text.ts";

const encoder = new TextEncoder();

function isIn(field: BodyField, body: Uint8Array, contentType: ContentType): boolean {
  const packed = (messages: readonly (readonly [Uint8Array, ContentType])[]) => {
    const writer = new PackedWriter();
    for (const [bytes, type] of messages) {
      writer.append({ id: new Uint8Array(16), contentType: type, body: bytes });
    }
    return writer.slice(0, writer.byteLength);
  };
  // Bytes of other messages around it.
  const other = [encoder.encode('{"id":42,"kind":"rush"}'), "json"] as const;
  const payload = new PackedIndex(packed([other, [body, contentType], other]));
  const isAmong = field.mayBeAmong(packed([[body, contentType]]));
  return isAmong && field.mayBeIn(payload, 1) && field.isIn(payload, 1);
}

/** Serializes a value as workerd's own binding does. */
function serialize(value: unknown): Uint8Array {
  const serializer = new Serializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.releaseBuffer();
}

const fieldOf = (name: string, value: string, isQuoted = false) => new BodyField({ name, value, isQuoted });

describe("a field of a body", () => {
  const order = {
    orderId: 20042,
    state: "paid",
    total: 10.5,
    isRush: false,
    note: null,
    customer: { id: 42, name: "Ada Lovelace", mail: "ada@example.com" },
    items: [{ sku: "lamp" }, { sku: "vase", sizes: [1, [2, 3]] }],
    "a.b": { c: 7 },
    text: '{"hidden":1}',
  };
  it.each<[name: string, value: string, isFound: boolean]>([
    ["orderId", "20042", true],
    ["orderid", "20042", true],
    ["orderId", "2004", false],
    ["id", "42", true],
    ["customer.id", "42", true],
    ["omer.id", "42", false],
    ["customer", "42", false],
    ["name", "ada lovelace", true],
    ["name", "Ada", false],
    ["customer.customer.id", "42", false],
    ["sku", "vase", true],
    ["items.sku", "LAMP", true],
    ["items.sizes", "3", true],
    ["items.sku.sizes", "3", false],
    ["total", "10.5", true],
    ["isRush", "false", true],
    ["isRush", "true", false],
    ["note", "null", true],
    ["a.b.c", "7", true],
    ["c", "7", true],
    ["b.c", "7", false],
    ["hidden", "1", true],
    ["text.hidden", "1", true],
    ["omer.hidden", "1", false],
    ["hidden", "2", false],
    ["toString", "x", false],
  ])("%s of %s is found: %s", (name, value, isFound) => {
    const field = fieldOf(name, value);
    const text = encoder.encode(JSON.stringify(order, null, 1));
    expect(isIn(field, text, "json")).toBe(isFound);
    expect(isIn(field, text, "text")).toBe(isFound);
    expect(isIn(field, text, "bytes")).toBe(isFound);
    expect(isIn(field, encodeBody(order, "v8"), "v8")).toBe(isFound);
    expect(isIn(field, serialize(order), "v8")).toBe(isFound);
  });

  it("with a value in quotes is a text, else also what is written so", () => {
    for (const [value, isQuoted, isFound] of [
      [42, false, true],
      [42, true, false],
      ["42", false, true],
      ["42", true, true],
      [null, true, false],
    ] as const) {
      const body = encoder.encode(JSON.stringify({ id: value }));
      expect(isIn(fieldOf("id", value === null ? "null" : "42", isQuoted), body, "json")).toBe(isFound);
    }
    expect(isIn(fieldOf("note", "", true), encoder.encode('{"note":""}'), "json")).toBe(true);
  });

  it("is found where its value is written by the numbers of its characters", () => {
    const found = (text: string, value = "val", name = "field3") =>
      isIn(fieldOf(name, value), encoder.encode(text), "json");
    expect(found('{"field3":"v\\u0061l"}')).toBe(true);
    expect(found('{"field3":"\\u0056AL"}')).toBe(true);
    expect(found('{"f\\u0069eld3":"v\\u0061\\u006C"}')).toBe(true);
    expect(found(JSON.stringify({ Message: '{"field3":"v\\u0061l"}' }))).toBe(true);
    expect(found('{"field3":"a b"}'.replace(" ", "\\u0020"), "a b")).toBe(true);
    expect(found('{"field3":"v\\u0062l"}')).toBe(false);
    expect(found('{"field3":"v\\u0061l')).toBe(false);
    expect(found('{"field3":"v\\u006')).toBe(false);
  });

  it("is looked for only in bodies whose escapes are of characters of its value", () => {
    const isAmong = (body: string) => {
      const writer = new PackedWriter();
      writer.append({ id: new Uint8Array(16), contentType: "json", body: encoder.encode(body) });
      return fieldOf("field3", "val").mayBeAmong(writer.slice(0, writer.byteLength));
    };
    expect(isAmong('{"field3":"\\u0022other\\u003c\\u0000"}')).toBe(false);
    expect(isAmong('{"field3":"\\u004c"}')).toBe(true);
  });

  it("is found in structured clones with cycles, maps, dates and large numbers", () => {
    const body: Record<string, unknown> = {
      map: new Map<unknown, unknown>([["key", new Set(["red", { deep: 1 }])]]),
      at: new Date(0),
      big: 12345678901234567890n,
      bytes: new Uint8Array(3),
    };
    body.self = { back: body };
    for (const bytes of [encodeBody(body, "v8"), serialize(body)]) {
      expect(isIn(fieldOf("map.key", "red"), bytes, "v8")).toBe(true);
      expect(isIn(fieldOf("key.deep", "1"), bytes, "v8")).toBe(true);
      expect(isIn(fieldOf("self.back.self.back.at", "1970-01-01T00:00:00.000Z"), bytes, "v8")).toBe(true);
      expect(isIn(fieldOf("big", "12345678901234567890"), bytes, "v8")).toBe(true);
      expect(isIn(fieldOf("self.at", "1"), bytes, "v8")).toBe(false);
    }
  });

  it("is not found in what is no JSON, and objects in objects beyond any depth are no danger", () => {
    const field = fieldOf("id", "42");
    expect(isIn(field, encoder.encode("id 42"), "text")).toBe(false);
    expect(isIn(field, encoder.encode("id 42"), "v8")).toBe(false);
    const deep = `${"[".repeat(50_000)}{"id":42}${"]".repeat(50_000)}`;
    expect(isIn(field, encoder.encode(deep), "json")).toBe(true);
    let shared: unknown = { id: 43 };
    for (let i = 0; i < 1_000; i++) shared = [shared, shared];
    expect(isIn(field, encodeBody({ shared, text: "42" }, "v8"), "v8")).toBe(false);
  });

  describe("in JSON that stands in a text", () => {
    const order = { orderId: 20042, state: "paid", "customer name": "Ada", ids: [[7], 8] };
    const envelopes: [string, (text: string) => unknown][] = [
      ["SNS", (Message) => ({ Type: "Notification", MessageId: "1", Message, Signature: "=" })],
      ["SNS to SQS to SNS", (Message) => ({ Message: JSON.stringify({ Message }) })],
      ["a list of records", (body) => ({ Records: [{ body: "{}" }, { body: "no JSON" }, { body }] })],
      ["a text that was encoded twice", (text) => text],
      ["a text with blanks around", (text) => ({ text: ` \n${text}\n ` })],
    ];
    const writers: [string, (value: unknown) => string][] = [
      ["plainly", (value) => JSON.stringify(value)],
      ["with indents", (value) => JSON.stringify(value, null, "\t")],
      // As .NET does.
      ["with quotes as \\u0022", (value) => JSON.stringify(value).replaceAll('\\"', "\\u0022")],
      [
        "with every letter of texts as \\u",
        (value) =>
          JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
            text.replace(/[a-z](?<!\\.)/gi, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
          ),
      ],
    ];
    const cases = envelopes.flatMap(([envelope, wrap]) =>
      writers.map(([writer, write]) => [envelope, writer, wrap, write] as const),
    );
    it.each(cases)("%s, written %s, is found", (_envelope, _writer, wrap, write) => {
      const body = wrap(write(order));
      const found = (name: string, value: string) =>
        [
          isIn(fieldOf(name, value), encoder.encode(write(body)), "json"),
          isIn(fieldOf(name, value), encodeBody(body, "v8"), "v8"),
          isIn(fieldOf(name, value), serialize(body), "v8"),
        ].join();
      expect(found("orderId", "20042")).toBe("true,true,true");
      expect(found("ids", "7")).toBe("true,true,true");
      expect(found("ids", "8")).toBe("true,true,true");
      expect(found("orderId", "2004")).toBe("false,false,false");
      expect(found("ids", "9")).toBe("false,false,false");
      expect(found("state", "20042")).toBe("false,false,false");
    });

    it("by the names that lead to it, and beside the text itself", () => {
      const body = { Message: JSON.stringify({ order: { id: 7 } }) };
      const bytes = encoder.encode(JSON.stringify(body));
      expect(isIn(fieldOf("Message.order.id", "7"), bytes, "json")).toBe(true);
      expect(isIn(fieldOf("Message.id", "7"), bytes, "json")).toBe(false);
      expect(isIn(fieldOf("Message", body.Message), bytes, "json")).toBe(true);
    });

    it.each([-1, 0, 1])("of as many texts as are read, and %i more", (more) => {
      const texts = Array.from({ length: NESTED_TEXTS_MAX + more }, (_, i) => `{"id":${i}}`);
      const body = encoder.encode(JSON.stringify({ texts }));
      const isFound = isIn(fieldOf("id", `${texts.length - 1}`), body, "json");
      expect(isFound).toBe(more <= 0);
    });

    it.each([-1, 0, 1])("of texts of as many characters as are read, and %i more", (more) => {
      const text = `{"id":42,"x":""}`;
      const long = text.replace('""', `"${"x".repeat(NESTED_CHARACTERS_MAX + more - text.length)}"`);
      expect(isIn(fieldOf("id", "42"), encoder.encode(JSON.stringify([long])), "json")).toBe(more <= 0);
    });
  });

  it.each([-1, 0, 1])("is looked for in as many members as may be, and %i more", (more) => {
    const members = 10 + more;
    const body = { list: Array.from({ length: members - 2 }, (_, i) => i), id: 42 };
    expect(hasField(body, "list", (value) => value === members - 3, 10)).toBe(more <= 0);
  });

  describe("takes a bounded time with a body of 128 KB that", () => {
    const SIZE = 128_000;
    const nested = (text: string) => {
      let deep = text;
      for (let next = deep; next.length < SIZE; next = JSON.stringify([deep])) deep = next;
      return deep;
    };
    it.each<[string, string, string]>([
      ["is lists in lists", "id", `${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}`],
      ["is objects in objects", "a", `${'{"a":'.repeat(SIZE / 6)}1${"}".repeat(SIZE / 6)}`],
      [
        "is objects in objects, for a name of many parts",
        `${"a.".repeat(400)}b`,
        `${'{"a":'.repeat(SIZE / 6)}{"c":{"b":42,"b":1}}${"}".repeat(SIZE / 6)}`,
      ],
      [
        "is a large object in others, for a name of many parts",
        `${"a.".repeat(400)}b`,
        `${'{"a":'.repeat(400)}{"b":[[]],"c":42,${'"":1,'.repeat(SIZE / 5 - 2_000)}"d":1}${"}".repeat(400)}`,
      ],
      ["is texts in texts", "id", nested('{"id":1}')],
      [
        "has a text of lists in lists",
        "id",
        JSON.stringify({ id: "[".repeat(SIZE / 2) + "]".repeat(SIZE / 2) }),
      ],
      ["has thousands of texts that look like JSON", "id", JSON.stringify(Array(SIZE / 8).fill("{{}}"))],
      ["has thousands of texts of JSON", "id", JSON.stringify(Array(SIZE / 16).fill('{"id":1}'))],
      ["has thousands of members of that name", "id", `[${'{"id":2},'.repeat(SIZE / 10)}1]`],
      ["has one text of backslashes", "id", JSON.stringify({ id: "\\".repeat(SIZE / 2) })],
      ["has thousands of names with escapes", "id", `[${'{"i\\u0064":2},'.repeat(SIZE / 16)}1]`],
    ])("%s", async (_what, name, text) => {
      const body = encoder.encode(text);
      expect(body.byteLength).toBeLessThanOrEqual(SIZE + 100);
      const tookMs = await cpuMsOf(() => {
        for (const value of ["42", "1"]) isIn(fieldOf(name, value), body, "json");
      });
      // Without the limits some take more than ten seconds.
      expect(tookMs).toBeLessThan(5_000);
    });
  });

  const key = fc.constantFrom("a", "b", "B", "a.b", "", "ü/", "toString");
  const leaf = fc.oneof(
    fc.constantFrom(0, -0, 1, 10.5, 1e21, "1", "A", "a b", "ü", "<x>", 'a"b', "\\", "\n", "", true, null),
    fc.string({ maxLength: 1 }),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("tree"), { maxLength: 3 }), tie("object")),
    object: fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
  }));
  const name = fc.array(key, { minLength: 1, maxLength: 2 }).map((keys) => keys.join("."));
  const value = fc.oneof(leaf.map(String), fc.constantFrom("1.0", "1E21", "tru"));

  it("is found where a walk through the parsed body finds it, in every way to write the body", () => {
    let found = 0;
    fc.assert(
      fc.property(tree, name, value, fc.boolean(), fc.nat(), (body, anyName, anyValue, isQuoted, pick) => {
        const leaves = valuesOf(body).filter(({ keys }) => keys.length > 0);
        // Every second time it is a field that the body has.
        const known = pick % 2 === 0 ? leaves[(pick / 2) % leaves.length] : undefined;
        const named = known?.keys.slice(pick % known.keys.length).join(".") ?? anyName;
        const typed = known === undefined ? anyValue : String(known.value);
        fc.pre(isQuoted || /^\S+$/.test(typed));
        const field = fieldOf(named, typed, isQuoted);
        const text = JSON.stringify(body);
        const isWritten = text.toLowerCase().includes(typed.toLowerCase());
        const expected = valuesOf(body)
          .filter(({ keys }) => isNamed(keys, named))
          .some(({ value: leaf }) => {
            if (typeof leaf === "string") return leaf.toLowerCase() === typed.toLowerCase();
            if (isQuoted) return false;
            return typeof leaf === "number"
              ? leaf === Number(typed) && isWritten
              : String(leaf) === typed.toLowerCase();
          });
        found += expected ? 1 : 0;
        expect(isIn(field, encoder.encode(text), "json")).toBe(expected);
        const escaped = text.replace(
          /[^ -~]|[<>&'=]/g,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
        expect(isIn(field, encoder.encode(escaped.replaceAll("/", "\\/")), "json")).toBe(
          // A number is found as it is written.
          expected && !(isNumeric(typed) && !escaped.toLowerCase().includes(typed.toLowerCase())),
        );
        if (!isNumeric(typed)) {
          expect(isIn(field, encodeBody(body, "v8"), "v8")).toBe(expected);
          expect(isIn(field, serialize(body), "v8")).toBe(expected);
        }
      }),
      { numRuns: 5_000 },
    );
    expect(found).toBeGreaterThan(500);
  });
});

const isNumeric = (text: string) => text.trim() !== "" && !Number.isNaN(Number(text));

/** Every value in a body with the names that lead to it. */
function valuesOf(
  value: unknown,
  keys: readonly string[] = [],
): { readonly keys: readonly string[]; readonly value: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesOf(element, keys));
  if (typeof value !== "object" || value === null) return [{ keys, value }];
  return Object.entries(value).flatMap(([key, member]) => valuesOf(member, [...keys, key]));
}

function isNamed(keys: readonly string[], name: string): boolean {
  return keys.some((_, i) => keys.slice(i).join(".").toLowerCase() === name.toLowerCase());
}

it("a text is among bytes where a search without capitals finds it", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "B", "b", "z", "ü", "1"), minLength: 1, maxLength: 4 });
  const among = fc.string({ unit: fc.constantFrom("a", "A", "b", "Z", "ü", "1"), maxLength: 12 });
  fc.assert(
    fc.property(text, among, among, (looked, before, inside) => {
      const bytes = encoder.encode(before + inside);
      const from = encoder.encode(before).length;
      const expected = inside.toLowerCase().includes(looked.toLowerCase());
      expect(new ByteText(looked).isIn(bytes, from, bytes.length)).toBe(expected);
      expect(new ByteText(looked).isIn(bytes, 0, from)).toBe(
        before.toLowerCase().includes(looked.toLowerCase()),
      );
    }),
    { numRuns: 2_000 },
  );
});
