import { describe, expect, it } from "vitest";
import { jsonOf, readJsonInput } from "./json-protocol.ts";
import { blob, boolean, flatList, flatMap, integer, string, structure } from "./shape.ts";

const SHAPE = structure({
  QueueUrl: string,
  Max: integer,
  Raw: boolean,
  Data: blob,
  Attributes: flatMap("Attribute", string),
  Names: flatList("Name", string),
});
const read = (value: unknown) =>
  readJsonInput(SHAPE, typeof value === "string" ? value : JSON.stringify(value));

describe("the input of a JSON request", () => {
  it("has each member in its type", () => {
    const input = { QueueUrl: "q", Max: 0, Raw: false, Data: "AQI=", Attributes: { a: "1" }, Names: ["x"] };
    expect(read(input)).toEqual({ ...input, Data: Uint8Array.of(1, 2) });
  });

  it("is empty for an empty body", () => {
    expect(read("")).toEqual({});
  });

  it("leaves members alone that it does not know, and takes null for absent", () => {
    expect(
      read({ QueueUrl: null, Other: { deep: [1] }, Attributes: { a: null, b: "1" }, Names: [null, "x"] }),
    ).toEqual({ Attributes: { b: "1" }, Names: ["x"] });
  });

  it("takes nothing for a member that every object has", () => {
    const text = '{"__proto__": {"Max": 1}, "constructor": 1, "QueueUrl": "q", "toString": null}';
    expect(Object.entries(read(text))).toEqual([["QueueUrl", "q"]]);
  });

  it("keeps what comes before and behind a member that is left out", () => {
    expect(read({ QueueUrl: "q", Max: null, Raw: true, Names: ["a", null, "b"] })).toEqual({
      QueueUrl: "q",
      Raw: true,
      Names: ["a", "b"],
    });
  });

  it.each([
    ["{", "The request body is not valid JSON."],
    ["[]", "Start of list found where not expected"],
    ['"text"', "Unrecognized collection type class java.lang.String"],
    [{ QueueUrl: 5 }, "NUMBER_VALUE can not be converted to a String"],
    [{ QueueUrl: true }, "TRUE_VALUE can not be converted to a String"],
    [{ QueueUrl: {} }, "Start of structure or map found where not expected."],
    [{ Max: "5" }, "STRING_VALUE can not be converted to an Integer"],
    [{ Max: 1.5 }, "FLOAT_VALUE can not be converted to an Integer"],
    [{ Raw: "true" }, "STRING_VALUE can not be converted to a Boolean"],
    [{ Attributes: [] }, "Start of list found where not expected"],
    [{ Attributes: "a" }, "Unrecognized collection type class java.lang.String"],
    [{ Attributes: { a: 1 } }, "NUMBER_VALUE can not be converted to a String"],
    [{ Names: {} }, "Start of structure or map found where not expected."],
    [{ Names: "a" }, "Unrecognized collection type class java.lang.String"],
    [{ Data: "%" }, "a binary value must be base64"],
  ])("is refused with SerializationException: %j", (input, text) => {
    expect(() => read(input)).toThrow(expect.objectContaining({ message: text }));
  });
});

describe("an answer in JSON", () => {
  it("leaves out what is absent or empty, and what its shape does not have", () => {
    expect(
      jsonOf(SHAPE, { Max: 0, Raw: false, Names: [], Attributes: {}, QueueUrl: undefined, Other: 1 }),
    ).toBe('{"Max":0,"Raw":false}');
  });

  it("has its members in the order of the shape, however they were put together", () => {
    expect(jsonOf(SHAPE, { Names: ["x"], Max: 1, QueueUrl: "q" })).toBe(
      '{"QueueUrl":"q","Max":1,"Names":["x"]}',
    );
  });

  it("leaves what it is made of as it was", () => {
    const output = { QueueUrl: "q", Data: Uint8Array.of(1), Names: [] };
    expect(jsonOf(SHAPE, output)).toBe('{"QueueUrl":"q","Data":"AQ=="}');
    expect(output).toEqual({ QueueUrl: "q", Data: Uint8Array.of(1), Names: [] });
  });

  it("has blobs in base64", () => {
    expect(jsonOf(SHAPE, { Data: Uint8Array.of(255, 254) })).toBe('{"Data":"//4="}');
  });
});
