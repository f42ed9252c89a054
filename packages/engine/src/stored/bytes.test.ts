import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteFormatError, ByteReader, ByteWriter, checksumOf } from "./bytes.ts";

function written(write: (out: ByteWriter) => void): Uint8Array {
  const out = new ByteWriter();
  write(out);
  return out.finish();
}

const BOUNDARIES = [0, 1, 127, 128, 129, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 49, 2 ** 52];

describe("integers", () => {
  it.each([...BOUNDARIES, Number.MAX_SAFE_INTEGER])("%i is read as it was written", (value) => {
    const input = new ByteReader(written((out) => out.uint(value)));
    expect(input.uint()).toBe(value);
    input.end();
  });

  it.each([
    [127, 1],
    [128, 2],
    [16_383, 2],
    [16_384, 3],
  ])("%i takes %i bytes and the checksum", (value, bytes) => {
    expect(written((out) => out.uint(value))).toHaveLength(bytes + 4);
  });

  it.each([-1, 0.5, Number.MAX_SAFE_INTEGER + 1, NaN, Infinity])("%d is refused", (value) => {
    const what = new RangeError(`${value} is not an unsigned integer`);
    expect(() => new ByteWriter().uint(value)).toThrow(what);
  });

  it("integers that are larger than any that is written are refused", () => {
    /** An integer whose first seven bytes are full. */
    const reader = (...last: number[]) => {
      const bytes = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ...last];
      const checked = Uint8Array.from([...bytes, 0, 0, 0, 0]);
      new DataView(checked.buffer).setUint32(bytes.length, checksumOf(checked, bytes.length), true);
      return new ByteReader(checked);
    };
    expect(reader(0x0f).uint()).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => reader(0x10).uint()).toThrow(
      new ByteFormatError("the integer 9570149208162304 is too large"),
    );
    expect(() => reader(0x80, 0x00).uint()).toThrow(new ByteFormatError("an integer does not end"));
  });
});

describe("texts", () => {
  it.each(["", "a", "orders-ü-注文", "\u{1f4e6}", "\ud800 alone", "\uffff", "x".repeat(200)])(
    "%j is read as it was written",
    (value) => {
      const input = new ByteReader(written((out) => out.text(value)));
      expect(input.text()).toBe(value);
      input.end();
    },
  );

  it("texts take a byte for each character of ASCII, and one for their length", () => {
    expect(written((out) => out.text("orders"))).toHaveLength(1 + 6 + 4);
  });

  it("texts with what is no unit of UTF-16 are refused", () => {
    const bytes = written((out) => {
      out.uint(1);
      out.uint(0x10000);
    });
    expect(() => new ByteReader(bytes).text()).toThrow(new ByteFormatError("65536 is no unit of UTF-16"));
  });

  it("texts that end before their length are refused", () => {
    const bytes = written((out) => {
      out.uint(2 ** 40);
      out.uint(65);
    });
    expect(() => new ByteReader(bytes).text()).toThrow(new ByteFormatError("it ends after 11 bytes"));
  });
});

describe("floats", () => {
  it.each([0, -0, 1, -1.5, 1e300, 5e-324, Infinity, -Infinity, NaN])(
    "%d is read as it was written",
    (value) => {
      const input = new ByteReader(written((out) => out.float(value)));
      expect(input.float()).toBe(value);
      input.end();
    },
  );
});

describe("what was written", () => {
  it("is read in the same order, however long it is and wherever it lies in its buffer", () => {
    const value = fc.oneof(
      fc.maxSafeNat().map((uint) => ({ uint })),
      fc.double().map((float) => ({ float })),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 60, size: "max" }), fc.nat(9), (values, before) => {
        const bytes = written((out) => {
          for (const each of values) {
            if ("uint" in each) out.uint(each.uint);
            else out.float(each.float);
          }
        });
        const buffer = new Uint8Array(before + bytes.length + 5).fill(0xaa);
        buffer.set(bytes, before);
        const input = new ByteReader(buffer.subarray(before, before + bytes.length));
        for (const each of values) {
          if ("uint" in each) expect(input.uint()).toBe(each.uint);
          else expect(input.float()).toBe(each.float);
        }
        input.end();
      }),
    );
  });

  it("does not change when the writer goes on", () => {
    const out = new ByteWriter();
    out.uint(1);
    const first = out.finish();
    out.uint(2);
    new ByteReader(first).uint();
    expect(first).toHaveLength(5);
  });
});

it("the checksum is 32-bit FNV-1a", () => {
  const of = (text: string) => checksumOf(new TextEncoder().encode(text), text.length);
  expect([of(""), of("a"), of("foobar")]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});

describe("corruption", () => {
  const bytes = written((out) => {
    for (const value of BOUNDARIES) out.uint(value);
    out.float(Math.PI);
  });

  it("corruption of a single bit is noticed, wherever it is", () => {
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const corrupt = bytes.slice();
      corrupt[bit >> 3] = (corrupt[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => new ByteReader(corrupt)).toThrow(ByteFormatError);
    }
  });

  it("corruption by truncation is noticed, wherever it ends", () => {
    for (let length = 0; length < bytes.length; length++) {
      const what =
        length < 4 ? `it ends after ${length} bytes` : `the checksum of ${length} bytes does not fit`;
      expect(() => new ByteReader(bytes.subarray(0, length))).toThrow(new ByteFormatError(what));
    }
  });

  it("has an error with a name of its own", () => {
    expect(new ByteFormatError("it").name).toBe("ByteFormatError");
  });

  it("corruption by bytes behind it is noticed", () => {
    expect(() => new ByteReader(new Uint8Array([...bytes, 0]))).toThrow(ByteFormatError);
  });

  it("reads nothing past the end", () => {
    for (let value = 0; value < 100; value++) {
      const input = new ByteReader(written((out) => out.uint(value)));
      input.uint();
      expect(() => input.uint()).toThrow(ByteFormatError);
    }
    expect(() => new ByteReader(written(() => {})).float()).toThrow(ByteFormatError);
    const seven = written((out) => {
      for (const byte of [1, 2, 3, 4, 5, 6, 7]) out.uint(byte);
    });
    expect(() => new ByteReader(seven).float()).toThrow(ByteFormatError);
  });

  it("leaves nothing unread", () => {
    const input = new ByteReader(
      written((out) => {
        out.uint(1);
        out.uint(300);
      }),
    );
    input.uint();
    expect(() => input.end()).toThrow(new ByteFormatError("2 bytes are left over"));
  });
});

it.each([0, 1, 7, 8, 9])("what has room for %i bytes takes as many as come", (bytes) => {
  const out = new ByteWriter(bytes);
  out.float(1.5);
  out.float(2.5);
  const input = new ByteReader(out.finish());
  expect([input.float(), input.float()]).toEqual([1.5, 2.5]);
});
