import { describe, expect, it } from "vitest";
import { PackedIndex, packMessages } from "./packed.ts";
import { recordEnd } from "./packed-layout.ts";
import { isReadable, makeUnreadable } from "./unreadable.ts";

const message = (id: number, body: string) => ({
  id: id.toString(16).padStart(32, "0"),
  contentType: "text" as const,
  body: new TextEncoder().encode(body),
  delaySeconds: 5,
  timestampMs: 1_700_000_000_000,
});

describe("an unreadable record", () => {
  it.each(["", "a", "a longer body"])(
    "takes the place of one with the body %j and leaves the others alone",
    (body) => {
      const packed = packMessages([message(1, "before"), message(2, body), message(3, "after")]);
      const { offsets } = new PackedIndex(packed);
      const [, from = 0, to = 0] = offsets;
      makeUnreadable(packed, from, to);
      const index = new PackedIndex(packed);
      expect([0, 1, 2].map((i) => isReadable(index, i))).toEqual([true, false, true]);
      expect([...index.offsets]).toEqual([...offsets]);
      expect(new TextDecoder().decode(index.message(2).body)).toBe("after");
      expect(index.delaySeconds(1)).toBeUndefined();
    },
  );

  it("needs a header's place", () => {
    expect(() => makeUnreadable(new Uint8Array(39), 0, 39)).toThrow(RangeError);
    makeUnreadable(new Uint8Array(40), 0, 40);
  });
});

describe("recordEnd", () => {
  const packed = packMessages([message(1, "abc"), message(2, "")]);
  const end = (bytes: Uint8Array, offset: number) =>
    recordEnd(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset);

  it("finds each record", () => {
    expect([end(packed, 0), end(packed, 43)]).toEqual([43, 83]);
  });

  it("finds none where one is cut off by a byte", () => {
    expect([end(packed.subarray(0, 42), 0), end(packed.subarray(0, 43), 0)]).toEqual([null, 43]);
    expect([end(packed.subarray(0, 39), 0), end(packed, 83)]).toEqual([null, null]);
  });
});
