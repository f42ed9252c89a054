import { decodeAttributes, encodeAttributes, NUMBER_DIGITS_MAX } from "@sluice/aws";
import { describe, expect, it } from "vitest";
import { checkMessageAttributes, MESSAGE_ATTRIBUTES_MAX } from "./message-attributes.ts";
import { checkFifo, checkMessage, DELAY_SECONDS_MAX, messageBytes, type SendRules } from "./outgoing.ts";

const RULES: SendRules = {
  isFifo: false,
  hasContentBasedDeduplication: false,
  messageBytesMax: 1_024,
  isBatch: false,
  hasValidTexts: false,
};
const FIFO: SendRules = { ...RULES, isFifo: true };
const body = { MessageBody: "x" };

describe("a message", () => {
  it.each([
    [-1, false],
    [0, true],
    [DELAY_SECONDS_MAX, true],
    [DELAY_SECONDS_MAX + 1, false],
  ])("a message with a delay of %s s is taken: %s", (DelaySeconds, isTaken) => {
    const check = () => checkMessage({ ...body, DelaySeconds }, RULES);
    if (isTaken) expect(check).not.toThrow();
    else
      expect(check).toThrow(
        `Value ${DelaySeconds} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0`,
      );
  });

  it("counts body and attributes in bytes of UTF-8 against the queue's limit", () => {
    const attributes = { k: { DataType: "String", StringValue: "é" } };
    const message = (length: number) => ({ MessageBody: "é".repeat(length), MessageAttributes: attributes });
    expect(messageBytes(message(507))).toBe(1_014 + 1 + 6 + 2);
    expect(() => checkMessage({ ...message(507), MessageBody: `${"é".repeat(507)}x` }, RULES)).not.toThrow();
    expect(() => checkMessage(message(508), RULES)).toThrow(
      "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes.",
    );
    expect(() => checkMessage(message(508), { ...RULES, isBatch: true })).toThrow(
      "cannot be validated. Reason:",
    );
  });

  it.each(["\u0000", "\u000b", "\ufffe", "\uffff", "\ud800"])(
    "may not hold the character %j",
    (character) => {
      expect(() => checkMessage({ MessageBody: `a${character}` }, RULES)).toThrow(
        expect.objectContaining({ kind: expect.objectContaining({ code: "InvalidMessageContents" }) }),
      );
    },
  );

  it("may hold every other one", () => {
    expect(() => checkMessage({ MessageBody: "\t\n\r \ud7ff\ue000\ufffd\u{10ffff}" }, RULES)).not.toThrow();
  });

  it("must not be empty", () => {
    expect(() => checkMessage({ MessageBody: "" }, RULES)).toThrow(
      "The request must contain the parameter MessageBody.",
    );
  });
});

describe("a message to a FIFO queue", () => {
  const group = { MessageGroupId: "g" };

  it("names its group and, unless its content does, its deduplication id", () => {
    expect(() => checkFifo({ ...body }, FIFO)).toThrow(
      expect.objectContaining({ kind: expect.objectContaining({ code: "MissingParameter" }) }),
    );
    expect(() => checkFifo({ ...body }, { ...FIFO, isBatch: true })).toThrow(
      expect.objectContaining({ kind: expect.objectContaining({ code: "InvalidParameterValue" }) }),
    );
    expect(() => checkFifo({ ...body, ...group }, FIFO)).toThrow("ContentBasedDeduplication enabled");
    expect(() =>
      checkFifo({ ...body, ...group }, { ...FIFO, hasContentBasedDeduplication: true }),
    ).not.toThrow();
    expect(() => checkFifo({ ...body, ...group, MessageDeduplicationId: "d" }, FIFO)).not.toThrow();
  });

  it("has no delay of its own, but may say 0", () => {
    expect(() => checkMessage({ ...body, ...group, DelaySeconds: 0 }, FIFO)).not.toThrow();
    expect(() => checkMessage({ ...body, ...group, DelaySeconds: 1 }, FIFO)).toThrow(
      "The request include parameter that is not valid for this queue type.",
    );
  });

  it.each([
    ["a".repeat(128), true],
    ["a".repeat(129), false],
    ["!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", true],
    ["", false],
    ["a b", false],
    ["é", false],
  ])("a message to a FIFO queue with the group %s is taken: %s", (MessageGroupId, isTaken) => {
    const check = () => checkMessage({ ...body, MessageGroupId }, FIFO);
    if (isTaken) expect(check).not.toThrow();
    else expect(check).toThrow(`Value ${MessageGroupId} for parameter MessageGroupId is invalid. Reason: `);
  });
});

it("a deduplication id is nothing for a standard queue", () => {
  expect(() => checkFifo({ ...body, MessageDeduplicationId: "d" }, RULES)).toThrow(
    "Value d for parameter MessageDeduplicationId is invalid.",
  );
});

describe("attributes of a message", () => {
  const text = (StringValue: string, DataType = "String") => ({ DataType, StringValue });

  it("attributes of a message are ten at most", () => {
    const attributes = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, text("x")]));
    expect(() => checkMessageAttributes(attributes(MESSAGE_ATTRIBUTES_MAX))).not.toThrow();
    expect(() => checkMessageAttributes(attributes(MESSAGE_ATTRIBUTES_MAX + 1))).toThrow(
      "Number of message attributes [11] exceeds the allowed maximum [10].",
    );
  });

  it.each(["a".repeat(256), "Help.Me", "øßä", "a-b_c"])("may be called %s", (name) => {
    expect(() => checkMessageAttributes({ [name]: text("x") })).not.toThrow();
  });

  it.each([
    ["a".repeat(257), "must be shorter than 256 bytes"],
    ["", "non-empty message (user) attribute names"],
    ["AWS.x", "reserved for internal use"],
    ["amazon.x", "reserved for internal use"],
    [".a", "is invalid"],
    ["a.", "is invalid"],
    ["a..b", "is invalid"],
    ["a b", "is invalid"],
  ])("may not be called %s", (name, refusal) => {
    expect(() => checkMessageAttributes({ [name]: text("x") })).toThrow(refusal);
  });

  it.each([
    [text("", "String"), "must contain a non-empty value of type 'String'."],
    [text("x", "Text"), "You must use only the following supported type prefixes"],
    [text("x", "Number"), "to a number"],
    [text("1".repeat(NUMBER_DIGITS_MAX + 1), "Number"), "to a number"],
    [text("1.1e126", "Number"), "to a number"],
    [text("1e127", "Number"), "to a number"],
    [text("0.9e-128", "Number"), "to a number"],
    [text("1e-129", "Number"), "to a number"],
    [text("1e1000", "Number"), "to a number"],
    [text("\u0000"), "invalid characters"],
    [{ DataType: "String" }, "must contain a non-empty message attribute value."],
    [
      { DataType: "String", StringListValues: ["x"] },
      "list values in SendMessage operation are not supported",
    ],
    [{ DataType: "Binary", BinaryValue: new Uint8Array() }, "non-empty value of type 'Binary'"],
  ])("%j are refused", (value, refusal) => {
    expect(() => checkMessageAttributes({ Hello: value })).toThrow(refusal);
  });

  const numbers = [
    "1",
    "-1.5",
    "0010",
    "1e10",
    "1e126",
    "-0.01e+128",
    "9.9e125",
    "1e-128",
    "100e-130",
    "0e999",
  ];
  it.each([...numbers, "1".repeat(NUMBER_DIGITS_MAX)])("can be the number %s", (value) => {
    expect(() => checkMessageAttributes({ n: text(value, "Number.int") })).not.toThrow();
  });

  it("attributes of a message come back from the store as they were", () => {
    const stored = {
      attributes: { a: text("é"), b: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 255) } },
      traceHeader: "Root=1",
    };
    expect(decodeAttributes(encodeAttributes(stored))).toEqual(stored);
    expect(encodeAttributes({ attributes: {}, traceHeader: null })).toBeUndefined();
    expect(decodeAttributes(undefined)).toEqual({ attributes: {}, traceHeader: null });
  });
});
