import { MESSAGE_BYTES_MAX } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { leasedMessage } from "../../../../test/leased-message.ts";
import { reasonToStay, settingsOf } from "./target.ts";

describe("a message that goes to Cloudflare", () => {
  it.each([
    [MESSAGE_BYTES_MAX - 1, null],
    [MESSAGE_BYTES_MAX, null],
    [MESSAGE_BYTES_MAX + 1, "Cloudflare takes 128000 bytes at most"],
  ])("of %i bytes: %s", (bytes, reason) => {
    expect(reasonToStay(leasedMessage({ text: "x".repeat(bytes) }))).toBe(reason);
  });

  it.each([
    [{ contentType: "json", text: '{"n": 12345678901234567890}' }, null],
    [{ contentType: "json", text: "[1" }, "their bodies are no JSON"],
    [{ contentType: "bytes", text: "text" }, "Cloudflare's API takes text and JSON alone"],
    [{ contentType: "v8", text: undefined, base64: "AP8=" }, "Cloudflare's API takes text and JSON alone"],
    [{ contentType: "text", text: undefined, base64: "/w==" }, "their bodies are no text"],
    [{ group: "g" }, "Cloudflare keeps neither attributes nor groups"],
    [{ attributes: { a: { type: "String", value: "1" } } }, "Cloudflare keeps neither attributes nor groups"],
  ])("with %j: %s", (changes, reason) => {
    expect(reasonToStay(leasedMessage(changes))).toBe(reason);
  });
});

it.each([
  [{}, {}],
  [{ deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600 }, {}],
  [
    { deliveryDelaySeconds: 5, messageRetentionSeconds: 60 },
    { delivery_delay: 5, message_retention_period: 60 },
  ],
])(
  "a queue with the settings %j is created on Cloudflare with %j: a free account refuses any retention",
  (settings, sent) => {
    expect(settingsOf({ settings })).toEqual(sent);
  },
);
