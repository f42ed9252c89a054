import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeRecord, PackedIndex, packMessages } from "./packed.ts";
import { decodeExtension, encodeExtension, uncountedBytes } from "./packed-extension.ts";
import { PackedFormatError, RECORD_HEADER_BYTES } from "./packed-layout.ts";

const ID = "00112233445566778899aabbccddeeff";
const OTHER_ID = "ff".repeat(16);
const BODY = new Uint8Array([1, 2, 3]);

const extension = fc.record(
  {
    groupId: fc.string({ maxLength: 128 }),
    deduplicationId: fc.string({ maxLength: 128 }),
    attributes: fc.uint8Array({ maxLength: 300 }),
    deadLetterSource: fc.string({ maxLength: 80 }),
    deadLetterOf: fc.string({ maxLength: 80 }),
    trace: fc.uint8Array({ minLength: 25, maxLength: 60 }),
  },
  { requiredKeys: [] },
);

describe("the extension of a message", () => {
  it("gives back what was said, empty texts too", () => {
    fc.assert(
      fc.property(extension, (fields) => {
        expect(decodeExtension(encodeExtension(fields))).toEqual(fields);
      }),
    );
  });

  it("is laid out as the stored format says", () => {
    const bytes = encodeExtension({ groupId: "g", deduplicationId: "d", attributes: new Uint8Array([9]) });
    expect([...bytes]).toEqual([1, 1, 0, 0, 0, 0x67, 2, 1, 0, 0, 0, 0x64, 3, 1, 0, 0, 0, 9]);
    expect([...encodeExtension({ deadLetterSource: "q" })]).toEqual([4, 1, 0, 0, 0, 0x71]);
    expect([...encodeExtension({ deadLetterOf: "q" })]).toEqual([6, 1, 0, 0, 0, 0x71]);
    expect([...encodeExtension({ trace: new Uint8Array([1, 2]) })]).toEqual([8, 2, 0, 0, 0, 1, 2]);
  });

  it("counts for the size of a message, but for where a Worker's dead letter comes from and its trace", () => {
    fc.assert(
      fc.property(extension, (fields) => {
        const { deadLetterOf, trace, ...counted } = fields;
        expect(encodeExtension(fields).byteLength - uncountedBytes(fields)).toBe(
          encodeExtension(counted).byteLength,
        );
      }),
    );
  });

  it("skips fields of a later release", () => {
    const later = new Uint8Array([200, 2, 0, 0, 0, 7, 7, ...encodeExtension({ groupId: "g" })]);
    expect(decodeExtension(later)).toEqual({ groupId: "g" });
  });

  it("is refused where a field is cut off", () => {
    const bytes = encodeExtension({ groupId: "group" });
    for (let length = 1; length < bytes.length; length++) {
      expect(() => decodeExtension(bytes.subarray(0, length))).toThrow(PackedFormatError);
    }
  });

  it("lies between header and body, and may be longer than 65,535 bytes", () => {
    const attributes = new Uint8Array(70_000).fill(5);
    const packed = packMessages([
      { id: ID, contentType: "bytes", body: BODY, extension: { groupId: "g", attributes } },
      { id: OTHER_ID, contentType: "bytes", body: BODY },
    ]);
    const index = new PackedIndex(packed);
    expect(index.extension(0)).toEqual({ groupId: "g", attributes });
    expect([index.hasExtension(0), index.hasExtension(1)]).toEqual([true, false]);
    expect(index.extension(1)).toEqual({});
    expect([0, 1].map((i) => index.message(i).body)).toEqual([BODY, BODY]);
    expect(index.contentBytes(0)).toBe(BODY.length + 70_000 + 5 + 5 + 1);
  });

  it("costs a message that has none not a byte", () => {
    const plain = packMessages([{ id: ID, contentType: "bytes", body: BODY }]);
    expect(plain).toHaveLength(RECORD_HEADER_BYTES + BODY.length);
    expect(packMessages([{ id: ID, contentType: "bytes", body: BODY, extension: {} }])).toEqual(plain);
  });
});

describe("a record that goes to another queue", () => {
  const packed = packMessages([
    { id: OTHER_ID, contentType: "text", body: BODY },
    {
      id: ID,
      contentType: "json",
      body: BODY,
      delaySeconds: 7,
      timestampMs: 1_700_000_000_000,
      earlierReceives: 2,
      extension: { groupId: "g", deduplicationId: "d" },
    },
  ]);

  it("keeps everything but its delay", () => {
    const copy = new PackedIndex(changeRecord(new PackedIndex(packed), 1, {}));
    expect(copy.message(0)).toEqual({
      id: ID,
      contentType: "json",
      body: BODY,
      timestampMs: 1_700_000_000_000,
      delaySeconds: undefined,
    });
    expect(copy.extension(0)).toEqual({ groupId: "g", deduplicationId: "d" });
    expect(copy.earlierReceives(0)).toBe(2);
  });

  it("changes what it is told to", () => {
    const change = { id: OTHER_ID, timestampMs: 0, earlierReceives: 5, extension: { deduplicationId: ID } };
    const copy = new PackedIndex(changeRecord(new PackedIndex(packed), 1, change));
    expect([copy.id(0), copy.timestampMs(0), copy.earlierReceives(0)]).toEqual([OTHER_ID, 0, 5]);
    expect(copy.extension(0)).toEqual({ deduplicationId: ID });
  });

  it.each([
    [65_534, 65_534],
    [65_535, 65_535],
    [65_536, 65_535],
  ])("counts %i receives as %i", (receives, counted) => {
    const record = changeRecord(new PackedIndex(packed), 0, { earlierReceives: receives });
    expect(new PackedIndex(record).earlierReceives(0)).toBe(counted);
  });
});
