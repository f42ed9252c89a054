import { serialize } from "node:v8";
import { describe, expect, it } from "vitest";
import { foreignOf } from "./pulled.ts";

const pulled = (contentType: string | null, body: string) => ({
  id: "5f1c52a0-0000-4000-8000-00000000000A",
  timestamp_ms: 1_000,
  lease_id: "lease",
  body,
  metadata: contentType === null ? null : { "CF-Content-Type": contentType },
});
const base64 = (data: string | Uint8Array) => Buffer.from(data).toString("base64");
const v8 = base64(serialize(new Map([["when", new Date(0)]])));

describe("a pulled message", () => {
  it("keeps id and send time, and begins without attempts", () => {
    expect(foreignOf(pulled("text", "hello"))).toEqual({
      id: "5f1c52a000004000800000000000000a",
      sentAt: "1970-01-01T00:00:01.000Z",
      attempts: 0,
      delaySeconds: 0,
      contentType: "text",
      text: "hello",
    });
  });

  it.each([
    ["text", "aGk=", { contentType: "text", text: "aGk=" }],
    [
      "json",
      base64('{"n": 12345678901234567890}'),
      { contentType: "json", text: '{"n": 12345678901234567890}' },
    ],
    // Four characters of JSON that could be base64, and JSON that could not.
    ["json", "1234", { contentType: "json", text: "1234" }],
    ["json", '"hello"', { contentType: "json", text: '"hello"' }],
    ["bytes", "AP8=", { contentType: "bytes", base64: "AP8=" }],
    ["V8", v8, { contentType: "v8", base64: v8 }],
    [null, v8, { contentType: "v8", base64: v8 }],
  ])("of type %s with the body %s is read", (contentType, body, expected) => {
    expect(foreignOf(pulled(contentType, body))).toMatchObject(expected);
  });

  it.each([
    ["json", "hello"],
    ["bytes", "no base64"],
    ["v8", base64("none")],
    ["v8", "x"],
    ["protobuf", "AP8="],
  ])("of type %s with the body %s cannot be moved", (contentType, body) => {
    expect(foreignOf(pulled(contentType, body))).toEqual({ unreadable: "their bodies cannot be read" });
  });
});
