import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cloneable, describe as describeValue } from "../../test/clone-arbitrary.ts";
import { BodyDecodeError, encodeBody } from "../wire/body-codec.ts";
import { decodeBody } from "../wire/native-bodies.ts";

function roundTrip<T>(value: T): T {
  return decodeBody(encodeBody(value, "v8"), "v8") as T;
}

const text = (value: string) => new TextEncoder().encode(value);

describe("content type v8", () => {
  it("arrives as structured clone would have made it", () => {
    fc.assert(
      fc.property(cloneable(), (value) => {
        expect(describeValue(roundTrip(value))).toBe(describeValue(structuredClone(value)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps a cycle that goes through the cause of an error", () => {
    const error = new TypeError("outer");
    error.cause = { list: [error], map: new Map([[error, error]]) };
    const arrived = roundTrip({ error }).error;
    expect(arrived).toBeInstanceOf(TypeError);
    const cause = arrived.cause as { list: unknown[]; map: Map<unknown, unknown> };
    expect(cause.list[0]).toBe(arrived);
    expect(cause.map.get(arrived)).toBe(arrived);
  });

  it.each(["00", "-0", "1e3", "4294967295", "4294967296", "named"])(
    "keeps the property %j of an array, which is no index",
    (name) => {
      const list = Object.assign([1], { [name]: "kept" });
      expect(Object.entries(roundTrip(list))).toEqual([
        ["0", 1],
        [name, "kept"],
      ]);
    },
  );

  it("keeps an array with the highest index that there is", () => {
    const list: unknown[] = [];
    list[2 ** 32 - 2] = "last";
    const arrived = roundTrip(list);
    expect(Object.entries(arrived)).toEqual([["4294967294", "last"]]);
    expect(arrived).toHaveLength(2 ** 32 - 1);
  });

  it("keeps the stack that an error was sent with", () => {
    const error = new Error("sent");
    expect(roundTrip(error).stack).toBe(error.stack);
  });

  it("gives an error without a stack none", () => {
    const error = new SyntaxError("no stack");
    Reflect.deleteProperty(error, "stack");
    expect(describeValue(roundTrip(error))).toBe(describeValue(structuredClone(error)));
  });

  it("turns a class instance into a plain object, without its methods and getters", () => {
    class Order {
      readonly id = 1;
      get total() {
        return 2;
      }
    }
    expect(roundTrip(new Order())).toStrictEqual({ id: 1 });
  });

  it("lets two views share their memory and keeps the bytes around a view", () => {
    const whole = new Uint8Array([1, 2, 3, 4]);
    const arrived = roundTrip({ whole, part: whole.subarray(1, 3) });
    arrived.whole[1] = 9;
    expect([...arrived.part]).toEqual([9, 3]);
  });

  it.each([
    ["a function", () => 1, "() => 1 could not be cloned."],
    ["a symbol", Symbol("s"), "Symbol(s) could not be cloned."],
    ["a nested WeakMap", { a: [new WeakMap()] }, "#<WeakMap> could not be cloned."],
    ["shared memory", new SharedArrayBuffer(1), "#<SharedArrayBuffer> could not be cloned."],
  ])("throws the binding's DataCloneError for %s", (_name, value, message) => {
    const caught = (() => {
      try {
        encodeBody(value, "v8");
      } catch (error) {
        return error;
      }
    })();
    expect(caught).toBeInstanceOf(DOMException);
    expect(caught).toMatchObject({ name: "DataCloneError", message });
  });
});

describe("stored v8 bodies", () => {
  it("can be told from V8's own serialization by the first byte", () => {
    expect(encodeBody({ a: 1 }, "v8")[0]).toBe(0x01);
    expect(decodeBody(new Uint8Array([0xff, 0x0f, 0x49, 0x02]), "v8")).toBe(1);
  });

  it.each([
    ["nothing at all", ""],
    ["an unknown format", '\u0002[[1],["Set"]]'],
    ["text that is cut off", '\u0001[[1,2],{"a":3'],
    ["no fixups", "\u0001[[1],5]"],
    ["an unknown type", '\u0001[[1,2],["Klingon",3],["Set"],1]'],
  ])("stored v8 bodies throw a BodyDecodeError when they are %s", (_name, stored) => {
    expect(() => decodeBody(text(stored), "v8")).toThrow(BodyDecodeError);
  });
});
