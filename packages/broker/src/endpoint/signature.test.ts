import { Webhook } from "standardwebhooks";
import { expect, it } from "vitest";
import { signatureHeaders } from "./signature.ts";

const encoder = new TextEncoder();
const BODY = encoder.encode('{"total":5,"currency":"€"}');

it.each([
  ["a key in base64", `whsec_${btoa("a key of sixteen or more")}`, {}],
  ["any other text", "not base64 at all!", { format: "raw" as const }],
])("is verified by a library of Standard Webhooks, with %s", async (_, secret, options) => {
  const headers = await signatureHeaders(secret, "0123456789abcdef0123456789abcdef", BODY, Date.now());
  const webhook = new Webhook(secret, options);
  expect(webhook.verify(new TextDecoder().decode(BODY), { ...headers })).toEqual({ total: 5, currency: "€" });
  expect(() => webhook.verify('{"total":6}', { ...headers })).toThrow("No matching signature found");
});

it("names the message and the moment in whole seconds", async () => {
  const headers = await signatureHeaders("secret", "id", BODY, 1_700_000_000_999);
  expect(headers).toMatchObject({ "webhook-id": "id", "webhook-timestamp": "1700000000" });
});
