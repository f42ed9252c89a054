import { expect, it } from "vitest";
import { readForm } from "./form.ts";
import { readQueryInput } from "./query-protocol.ts";
import {
  blob,
  boolean,
  entryMap,
  flatList,
  flatMap,
  integer,
  memberList,
  string,
  structure,
} from "./shape.ts";

const value = structure({ DataType: string, StringValue: string, BinaryValue: blob });
const SHAPE = structure({
  QueueUrl: string,
  Max: integer,
  Raw: boolean,
  Attributes: flatMap("Attribute", string),
  TagKeys: flatList("TagKey", string),
  Entries: flatList(
    "Entry",
    structure({ Id: string, MessageAttributes: flatMap("MessageAttribute", value) }),
  ),
  Members: memberList(string),
  Policies: entryMap(string),
});

const read = (query: string) => readQueryInput(SHAPE, readForm(query));

it("the input of a Query request has scalars under their names", () => {
  expect(read("QueueUrl=http%3A%2F%2Fx%2Fq&Max=-3&Raw=True")).toEqual({
    QueueUrl: "http://x/q",
    Max: -3,
    Raw: true,
  });
});

it("the input of a Query request has lists in the order of their numbers, not of their texts", () => {
  const keys = Array.from({ length: 11 }, (_, i) => `TagKey.${11 - i}=k${11 - i}`).join("&");
  expect(read(keys).TagKeys).toEqual(Array.from({ length: 11 }, (_, i) => `k${i + 1}`));
});

it("the input of a Query request has flattened maps as numbered pairs", () => {
  expect(
    read("Attribute.1.Name=DelaySeconds&Attribute.1.Value=5&Attribute.2.Name=Policy").Attributes,
  ).toEqual({ DelaySeconds: "5", Policy: "" });
});

it("the input of a Query request has structures within lists, and maps within those", () => {
  const query =
    "Entry.1.Id=a&Entry.1.MessageAttribute.1.Name=k&Entry.1.MessageAttribute.1.Value.DataType=Binary" +
    "&Entry.1.MessageAttribute.1.Value.BinaryValue=AQI%3D&Entry.2.Id=b";
  expect(read(query).Entries).toEqual([
    { Id: "a", MessageAttributes: { k: { DataType: "Binary", BinaryValue: Uint8Array.of(1, 2) } } },
    { Id: "b" },
  ]);
});

it("the input of a Query request has lists and maps that are not flattened behind `member` and `entry`", () => {
  expect(
    read("Members.member.2=b&Members.member.1=a&Policies.entry.1.key=k&Policies.entry.1.value=v"),
  ).toEqual({ Members: ["a", "b"], Policies: { k: "v" } });
});

it("the input of a Query request has a list or a flattened map of one without its number, as the first version of boto writes it", () => {
  expect(read("TagKey=a&Attribute.Name=DelaySeconds&Attribute.Value=5")).toEqual({
    TagKeys: ["a"],
    Attributes: { DelaySeconds: "5" },
  });
  expect(read("TagKey=a&TagKey.1=b&Attribute.Name=x&Attribute.1.Name=y&Attribute.1.Value=2")).toEqual({
    TagKeys: ["b"],
    Attributes: { y: "2" },
  });
  expect(read("Members=a&Entry=a")).toEqual({});
});

it("the input of a Query request leaves what the shape does not know alone", () => {
  expect(read("Action=X&Version=2012-11-05&__proto__.polluted=1&Attribute.x.Name=a&TagKey.0=zero")).toEqual(
    {},
  );
});

it("the input of a Query request leaves out an element of a list that has no value, only something below it", () => {
  expect(read("TagKey.1.x=1&TagKey.2=two")).toEqual({ TagKeys: ["two"] });
});

it("the input of a Query request keeps a map's name that means something to JavaScript", () => {
  const { Attributes } = read("Attribute.1.Name=__proto__&Attribute.1.Value=x");
  expect(Object.keys(Attributes ?? {})).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

it.each([
  ["Max=ten", '"ten" can not be converted to an Integer'],
  ["Max=1.5", '"1.5" can not be converted to an Integer'],
  ["Raw=yes", '"yes" can not be converted to a Boolean'],
  ["Entry.1.MessageAttribute.1.Name=k&Entry.1.MessageAttribute.1.Value.BinaryValue=%25", "must be base64"],
])("the input of a Query request is refused with MalformedInput: %s", (query, text) => {
  expect(() => read(query)).toThrow(expect.objectContaining({ message: expect.stringContaining(text) }));
  expect(() => read(query)).toThrow(
    expect.objectContaining({ kind: expect.objectContaining({ code: "MalformedInput" }) }),
  );
});
