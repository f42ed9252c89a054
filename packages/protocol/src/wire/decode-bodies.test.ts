import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyDecodeError, encodeBody } from "./body-codec.ts";
import { decodeBodies } from "./decode-bodies.ts";
import { decodeBody } from "./native-bodies.ts";
import { type MessageToPack, PackedIndex, packMessages } from "./packed.ts";
import { CONTENT_TYPES, type ContentType, OFFSET_CONTENT_TYPE, PackedFormatError } from "./packed-layout.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

function packed(messages: readonly Omit<MessageToPack, "id">[]): PackedIndex {
  return new PackedIndex(
    packMessages(messages.map((message, i) => ({ id: `${i}`.padStart(32, "e"), ...message }))),
  );
}

function jsonTexts(texts: readonly string[]): PackedIndex {
  return packed(texts.map((text) => ({ contentType: "json", body: utf8(text) })));
}

describe("the bodies of a batch", () => {
  const value = fc.oneof(fc.jsonValue(), fc.jsonValue({ stringUnit: "binary" }));

  it("the bodies of a batch are those that each has by itself, and JSON that lies together is as it was", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 10 }), (values) => {
        const index = packed(values.map((body) => ({ contentType: "json", body: encodeBody(body, "json") })));
        const before = index.packed.slice();
        const each = values.map((_, i) => decodeBody(index.body(i), "json"));
        expect(decodeBodies(index)).toEqual(each);
        expect(index.packed).toEqual(before);
      }),
    );
  });

  it("the bodies of a batch are those of their content types, whichever come together", () => {
    const ofType: Record<ContentType, fc.Arbitrary<unknown>> = {
      json: value,
      text: fc.string(),
      bytes: fc.uint8Array(),
      v8: fc.date({ noInvalidDate: true }),
    };
    const body = fc
      .constantFrom(...CONTENT_TYPES)
      .chain((contentType) => ofType[contentType].map((body) => ({ contentType, body })));
    fc.assert(
      fc.property(fc.array(body, { maxLength: 5 }), (bodies) => {
        const index = packed(
          bodies.map(({ contentType, body }) => ({ contentType, body: encodeBody(body, contentType) })),
        );
        const each = bodies.map(({ contentType }, i) => decodeBody(index.body(i), contentType));
        expect(decodeBodies(index)).toEqual(each);
      }),
    );
  });

  it("the bodies of a batch are without what other dialects say about their messages", () => {
    const index = packed([
      { contentType: "json", body: utf8("1"), extension: { groupId: '"],[' } },
      { contentType: "json", body: utf8('{"a":2}') },
      { contentType: "json", body: utf8("3"), extension: { groupId: "b" } },
    ]);
    expect(decodeBodies(index)).toEqual([1, { a: 2 }, 3]);
  });

  it("may be large", () => {
    const bodies = ["a", "b", "c"].map((letter) => letter.repeat(60_000));
    expect(decodeBodies(jsonTexts(bodies.map((body) => JSON.stringify(body))))).toEqual(bodies);
  });

  it("the bodies of a batch are objects of their own", () => {
    const [first, second] = decodeBodies(jsonTexts(['{"a":[]}', '{"a":[]}']));
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });
});

describe("a body that cannot be read", () => {
  it.each([
    [["1", '{"cut": ', "3"]],
    [["", "2"]],
    [["1", ""]],
    [["1,2", "3"]],
    [["[1", "2]", "3"]],
    [['"1', '2"', "3"]],
    [["1]", "[2"]],
    [["\ufeff1", "2"]],
    [["undefined", "2"]],
  ])("fails the batch, wherever it is and however it would fit to the others: %j", (texts) => {
    const index = jsonTexts(texts);
    expect(() => decodeBodies(index)).toThrow(BodyDecodeError);
    const bad = texts.findIndex((text) => {
      try {
        JSON.parse(text);
        return false;
      } catch {
        return true;
      }
    });
    const alone = () => decodeBody(index.body(bad), "json");
    let message = "";
    try {
      alone();
    } catch (error) {
      message = (error as Error).message;
    }
    expect(() => decodeBodies(index)).toThrow(message);
  });

  it("is one of an unknown content type, too", () => {
    const index = jsonTexts(["1", "2"]);
    index.packed[(index.offsets[1] ?? 0) + OFFSET_CONTENT_TYPE] = 99;
    expect(() => decodeBodies(index)).toThrow(
      new PackedFormatError("record 1 has the unknown content type 99"),
    );
  });
});
