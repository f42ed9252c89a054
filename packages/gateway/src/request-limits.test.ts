import { describe, expect, it } from "vitest";
import {
  ADMIN_BYTES_MAX,
  ADMIN_MESSAGES_BYTES_MAX,
  bodyBytesMax,
  type RequestHead,
  unreadRefusal,
} from "./request-limits.ts";

function head(
  method: string,
  pathname: string,
  headers: Record<string, string> = {},
  search = "",
): RequestHead {
  return { method, pathname, search, headers: new Headers(headers) };
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const JSON_CALL = { "x-amz-target": "AmazonSQS.SendMessage", "content-type": "application/x-amz-json-1.0" };

it.each([
  [head("POST", "/__sluice/aws"), 4_194_304],
  [head("POST", "/__sluice/aws/000000000000/q"), 4_194_304],
  [head("POST", "/", JSON_CALL), 4_194_304],
  [head("POST", "/queue/q", FORM), 4_194_304],
  [head("POST", "/"), ADMIN_BYTES_MAX],
  [head("POST", "/__sluice/awss", FORM), ADMIN_BYTES_MAX],
  [head("POST", "/__sluice/client/v4/accounts/a/queues/b/messages"), 4_000_000],
  [head("POST", "/__sluice/client/v4/accounts/a/queues"), 4_000_000],
  [head("POST", "/__sluice/api/clock", JSON_CALL), ADMIN_BYTES_MAX],
  [head("POST", "/__sluice/api/queues/q/messages/batch"), ADMIN_MESSAGES_BYTES_MAX],
  [head("POST", "/__sluice/api/queues/q/messages"), ADMIN_MESSAGES_BYTES_MAX],
  [head("POST", "/__sluice/mcp"), ADMIN_MESSAGES_BYTES_MAX],
  [head("POST", "/__sluice/mcp/other"), ADMIN_BYTES_MAX],
  [head("POST", "/__sluice/api/queues/q/messages/0a/resend"), ADMIN_MESSAGES_BYTES_MAX],
  [head("POST", "/__sluice/api/queues/q/messages/0a/retry"), ADMIN_BYTES_MAX],
  [head("POST", "/__sluice/api/queues/messages/purge"), ADMIN_BYTES_MAX],
  [head("POST", "/messages/batch"), ADMIN_BYTES_MAX],
])("%o may have %i bytes of body", (given, bytes) => {
  expect(bodyBytesMax(given, false)).toBe(bytes);
});

const SIGNED = { authorization: "AWS4-HMAC-SHA256 Credential=x" };

it.each([
  [head("POST", "/", JSON_CALL), 65_536],
  [head("POST", "/__sluice/aws", FORM), 65_536],
  [head("POST", "/__sluice/aws", { ...FORM, authorization: "Bearer x" }), 65_536],
  [head("POST", "/", { ...JSON_CALL, ...SIGNED }), 4_194_304],
  [head("POST", "/__sluice/aws", SIGNED), 4_194_304],
  [head("POST", "/__sluice/aws", {}, "?X-Amz-Signature=x"), 4_194_304],
  [head("POST", "/__sluice/client/v4/accounts/a/queues"), 4_000_000],
  [head("POST", "/__sluice/api/queues/q/messages/batch"), 4_000_000],
])("%o may have %i bytes of body where AWS's clients have to sign", (given, bytes) => {
  expect(bodyBytesMax(given, true)).toBe(bytes);
});

describe("what is not read", () => {
  it.each([
    ["tooLarge", 413, "RequestEntityTooLarge"],
    ["busy", 503, "ServiceUnavailable"],
    ["late", 408, "RequestTimeout"],
    ["fragmented", 413, "RequestEntityTooLarge"],
  ] as const)("of AWS's clients is refused in their protocol: %s", (why, status, code) => {
    const json = unreadRefusal(head("POST", "/", JSON_CALL), why, 1_000);
    expect(json.status).toBe(status);
    expect(JSON.parse(json.body).__type).toContain(code);
    const xml = unreadRefusal(head("POST", "/__sluice/aws", FORM), why, 1_000);
    expect([xml.status, xml.body]).toEqual([status, expect.stringContaining(`<Code>${code}</Code>`)]);
    expect(xml.headers["retry-after"]).toBe(why === "busy" ? "1" : undefined);
  });

  it.each([
    ["/__sluice/client/v4/accounts/a/queues/b/messages/batch", "tooLarge", 413, 10205],
    ["/__sluice/client/v4/accounts/a/queues", "tooLarge", 413, 10026],
    ["/__sluice/client/v4/accounts/a/queues", "busy", 503, 15000],
    ["/__sluice/client/v4/accounts/a/queues", "late", 408, 10026],
    ["/__sluice/client/v4/accounts/a/queues", "fragmented", 413, 10026],
  ] as const)("of the REST API is refused in its envelope: %s, %s", (path, why, status, code) => {
    const answer = unreadRefusal(head("POST", path), why, 1_000);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ success: false, errors: [{ code }], result: null });
  });

  it.each([
    ["tooLarge", 413, "body_too_large"],
    ["busy", 503, "busy"],
    ["late", 408, "body_late"],
    ["fragmented", 413, "body_fragmented"],
  ] as const)("of the admin API is refused as it refuses everything: %s", (why, status, code) => {
    const answer = unreadRefusal(head("PUT", "/__sluice/api/clock"), why, 1_000);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ error: { code, message: expect.any(String) } });
  });

  it.each([
    ["/__sluice/aws", "HTTP content length exceeded 1000 bytes."],
    ["/__sluice/client/v4/accounts/a/queues", "the request exceeds the limit of 1000 bytes"],
    ["/__sluice/api/clock", "can have 1000 bytes at most"],
  ])("names the limit: %s", (path, words) => {
    expect(unreadRefusal(head("POST", path), "tooLarge", 1_000).body).toContain(words);
  });
});
