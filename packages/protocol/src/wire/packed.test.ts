import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinPacked, type MessageToPack, PackedIndex, packMessages, unpackMessages } from "./packed.ts";
import { CONTENT_TYPES, PackedFormatError, RECORD_HEADER_BYTES } from "./packed-layout.ts";
import { PackedWriter } from "./packed-writer.ts";

const ID = "00112233445566778899aabbccddeeff";
const hexId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));
const message = fc.record(
  {
    id: hexId,
    contentType: fc.constantFrom(...CONTENT_TYPES),
    body: fc.uint8Array({ maxLength: 200 }),
    delaySeconds: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    timestampMs: fc.nat(),
  },
  { requiredKeys: ["id", "contentType", "body"] },
);

describe("the packed batch", () => {
  it("gives back every message that was packed", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
        const expected = messages.map((m) => ({
          id: m.id,
          contentType: m.contentType,
          timestampMs: m.timestampMs ?? 0,
          delaySeconds: m.delaySeconds,
          body: m.body,
        }));
        expect(unpackMessages(packMessages(messages))).toEqual(expected);
      }),
    );
  });

  it("is laid out as the stored format says", () => {
    const packed = packMessages([
      { id: ID, contentType: "json", body: new Uint8Array([0x37]), delaySeconds: -2, timestampMs: 1.5 },
    ]);
    const view = new DataView(packed.buffer);
    expect(packed).toHaveLength(RECORD_HEADER_BYTES + 1);
    expect(view.getUint32(0, true)).toBe(1);
    expect(view.getUint16(4, true)).toBe(0);
    expect(packed[6]).toBe(2);
    expect(packed[7]).toBe(1);
    expect(view.getInt32(8, true)).toBe(-2);
    expect(view.getUint32(12, true)).toBe(0);
    expect(view.getFloat64(16, true)).toBe(1.5);
    expect(Buffer.from(packed.subarray(24, 40)).toString("hex")).toBe(ID);
    expect(packed[40]).toBe(0x37);
  });

  it("takes the id of a message as bytes or as a UUID", () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const writer = new PackedWriter();
        const hex = uuid.replaceAll("-", "");
        writer.append({ id: uuid, contentType: "text", body: "a" });
        writer.append({ id: Buffer.from(hex, "hex"), contentType: "text", body: "b" });
        expect(unpackMessages(writer.slice(0, writer.byteLength)).map(({ id }) => id)).toEqual([hex, hex]);
      }),
    );
    expect(() => new PackedWriter().append({ id: ID, contentType: "text", body: "" })).toThrow(RangeError);
  });

  it("tells all ids as it tells each", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
        const index = new PackedIndex(packMessages(messages));
        expect(index.ids()).toEqual(messages.map(({ id }) => id));
        expect(index.ids()).toEqual(messages.map((_, i) => index.id(i)));
      }),
    );
  });

  it("is joined by joining its bytes, and split at its records", () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 9 }), fc.nat(), (messages, at) => {
        const cut = at % (messages.length + 1);
        const joined = joinPacked([packMessages(messages.slice(0, cut)), packMessages(messages.slice(cut))]);
        expect(joined).toEqual(packMessages(messages));
        const index = new PackedIndex(joined);
        expect(unpackMessages(index.records(cut, index.count))).toEqual(
          unpackMessages(packMessages(messages.slice(cut))),
        );
      }),
    );
  });

  it("keeps an extension area of another dialect out of the body", () => {
    const plain = packMessages([{ id: ID, contentType: "text", body: new Uint8Array([1, 2]) }]);
    const extended = new Uint8Array([...plain.subarray(0, RECORD_HEADER_BYTES), 7, 7, 7, 1, 2]);
    new DataView(extended.buffer).setUint32(12, 3, true);
    const index = new PackedIndex(joinPacked([extended, plain]));
    expect([index.contentBytes(0), index.contentBytes(1)]).toEqual([5, 2]);
    expect([index.bodyBytes(0), index.bodyBytes(1)]).toEqual([2, 2]);
    const bodies = unpackMessages(index.packed).map((m) => [...m.body]);
    expect(bodies).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it("is stamped in place", () => {
    const packed = packMessages([
      { id: ID, contentType: "text", body: new Uint8Array(3), delaySeconds: 5 },
      { id: ID, contentType: "text", body: new Uint8Array(3), delaySeconds: 6 },
    ]);
    const index = new PackedIndex(packed);
    index.stamp(1, 1_700_000_000_000);
    expect(
      unpackMessages(packed).map(({ timestampMs, delaySeconds }) => [timestampMs, delaySeconds]),
    ).toEqual([
      [0, 5],
      [1_700_000_000_000, 6],
    ]);
  });

  it("keeps apart an absent delay and a delay of 0", () => {
    const packed = packMessages([
      { id: ID, contentType: "text", body: new Uint8Array() },
      { id: ID, contentType: "text", body: new Uint8Array(), delaySeconds: 0 },
    ]);
    const index = new PackedIndex(packed);
    expect([index.delaySeconds(0), index.delaySeconds(1)]).toEqual([undefined, 0]);
  });

  it.each([1, RECORD_HEADER_BYTES - 1, RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + 2])(
    "is refused when it is cut off after %i bytes",
    (length) => {
      const packed = packMessages([{ id: ID, contentType: "text", body: new Uint8Array(3) }]);
      expect(() => unpackMessages(packed.subarray(0, length))).toThrow(PackedFormatError);
    },
  );

  it("is refused when a content type is unknown", () => {
    const packed = packMessages([{ id: ID, contentType: "text", body: new Uint8Array() }]);
    packed[6] = CONTENT_TYPES.length;
    expect(() => unpackMessages(packed)).toThrow(PackedFormatError);
  });

  it.each(["", ID.slice(1), `${ID}0`, `${ID.slice(1)}g`])("takes no message with the id %o", (id) => {
    const message: MessageToPack = { id, contentType: "text", body: new Uint8Array() };
    expect(() => packMessages([message])).toThrow(PackedFormatError);
  });
});

describe("PackedWriter", () => {
  const id = new Uint8Array(16).fill(0xab);

  it("writes text as UTF-8, as long as the bytes of its encoding", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 3_000 }), { maxLength: 5 }), (texts) => {
        const writer = new PackedWriter();
        for (const body of texts) writer.append({ id, contentType: "text", body });
        const bodies = unpackMessages(writer.slice(0, writer.byteLength)).map((m) => m.body);
        expect(bodies).toEqual(texts.map((text) => new TextEncoder().encode(text)));
      }),
    );
  });

  it("leaves nothing of what it held before in its next records", () => {
    const writer = new PackedWriter();
    writer.append({ id, contentType: "v8", body: new Uint8Array(90_000).fill(0xff), delaySeconds: -1 });
    writer.clear();
    writer.append({ id, contentType: "v8", body: new Uint8Array(200).fill(0xff), delaySeconds: -1 });
    writer.clear();
    writer.append({ id, contentType: "text", body: "a" });
    writer.append({ id, contentType: "text", body: "b" });
    const hex = "ab".repeat(16);
    expect(writer.slice(0, writer.byteLength)).toEqual(
      packMessages([
        { id: hex, contentType: "text", body: new Uint8Array([0x61]) },
        { id: hex, contentType: "text", body: new Uint8Array([0x62]) },
      ]),
    );
  });

  const text = fc.oneof(
    fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom("", "\0", "\0".repeat(RECORD_HEADER_BYTES), "\ud800"),
  );
  const newRecord = fc.record(
    {
      contentType: fc.constantFrom(...CONTENT_TYPES),
      body: fc.oneof({ weight: 9, arbitrary: text }, fc.uint8Array({ maxLength: 300 })),
      delaySeconds: fc.integer({ min: 0, max: 86_400 }),
    },
    { requiredKeys: ["contentType", "body"] },
  );

  it("appends many records as it appends each, whatever is in them and was there before", () => {
    const records = fc.array(newRecord, { maxLength: 6 });
    fc.assert(
      fc.property(fc.boolean(), records, fc.nat(255), (isUsed, records, byte) => {
        const ids = Uint8Array.from({ length: 16 * records.length }, (_, i) => (byte + i) % 256);
        const [together, single] = [new PackedWriter(), new PackedWriter()];
        if (isUsed) {
          together.append({ id, contentType: "v8", body: new Uint8Array(3_000).fill(0xff) });
          together.clear();
        }
        for (const writer of [together, single]) writer.append({ id, contentType: "text", body: "first" });
        together.appendAll(records, ids);
        for (const [i, record] of records.entries()) {
          single.append({ ...record, id: ids.subarray(16 * i, 16 * i + 16) });
        }
        expect(together.slice(0, together.byteLength)).toEqual(single.slice(0, single.byteLength));
      }),
    );
  });

  it("appends records with ids of their own as it appends each, whatever they say besides", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
    const some = fc.record(
      {
        contentType: fc.constantFrom(...CONTENT_TYPES),
        body: text,
        id: fc.constantFrom<Uint8Array | string>(bytes, "11111111-2222-4333-8444-555555555555"),
        idFrom: fc.nat(16),
        delaySeconds: fc.integer({ min: 0, max: 86_400 }),
        timestampMs: fc.nat(),
        extension: fc.uint8Array({ minLength: 1, maxLength: 9 }),
        earlierReceives: fc.nat(65_535),
      },
      { requiredKeys: ["contentType", "body", "id", "idFrom"] },
    );
    // Most have neither of the two: else hardly any would be appended together.
    const simple = some.map(({ extension: _, earlierReceives: __, ...record }) => record);
    fc.assert(
      fc.property(
        fc.oneof(fc.array(simple, { maxLength: 6 }), fc.array(some, { maxLength: 6 })),
        (records) => {
          const [together, single] = [new PackedWriter(), new PackedWriter()];
          together.append({ id, contentType: "v8", body: new Uint8Array(3_000).fill(0xff) });
          together.clear();
          together.appendEach(records);
          for (const record of records) single.append(record);
          expect(together.slice(0, together.byteLength)).toEqual(single.slice(0, single.byteLength));
        },
      ),
    );
  });

  it("takes an id from where it begins, and none that is cut off", () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, i) => i);
    const writer = new PackedWriter();
    writer.append({ id: bytes, idFrom: 4, contentType: "text", body: "" });
    expect(unpackMessages(writer.slice(0, writer.byteLength))[0]?.id).toBe(
      "0405060708090a0b0c0d0e0f10111213",
    );
    expect(() => writer.append({ id: bytes, idFrom: 5, contentType: "text", body: "" })).toThrow(RangeError);
    expect(() => writer.append({ id: bytes, contentType: "text", body: "" })).toThrow("an id of 20 bytes");
  });

  it("hands out slices that own their memory", () => {
    const writer = new PackedWriter();
    writer.append({ id, contentType: "text", body: "first" });
    const first = writer.slice(0, writer.byteLength);
    expect(first.buffer.byteLength).toBe(first.byteLength);
    writer.clear();
    writer.append({ id, contentType: "text", body: "other" });
    expect(new TextDecoder().decode(unpackMessages(first)[0]?.body)).toBe("first");
  });
});
