import { ALERTS_KEY_BYTES_MAX, ALERTS_KEY_BYTES_MIN } from "@sluice/protocol";
import { expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { checkSettings } from "./check-settings.ts";

const secretOf = (bytes: number) => `whsec_${btoa("k".repeat(bytes))}`;

it.each([
  {},
  { SLUICE_AWS_ACCESS_KEYS: "", SLUICE_AWS_ACCOUNT_ID: "", SLUICE_PUBLIC_URL: "" },
  { SLUICE_PUBLIC_URL: "https://example.com/queues" },
  { SLUICE_AWS_ACCESS_KEYS: "A:one,B:two", SLUICE_AWS_ACCOUNT_ID: "123456789012" },
  {
    SLUICE_API_TOKENS: "a, b,, c+/=~._-",
    SLUICE_PUSH_HOSTS: "db.internal, localhost:3000,[::1]:80 ,10.0.0.1",
  },
  { SLUICE_ALLOWED_HOSTS: "a.example, b.example" },
  ...[ALERTS_KEY_BYTES_MIN, ALERTS_KEY_BYTES_MIN + 1, ALERTS_KEY_BYTES_MAX].map((bytes) => ({
    SLUICE_ALERTS_SECRET: secretOf(bytes),
  })),
  {
    SLUICE_OTLP_ENDPOINT: "http://localhost:4318",
    SLUICE_OTLP_HEADERS: "authorization=Bearer%20a",
    SLUICE_TRACE_RATIO: "0.1",
    SLUICE_TRACE_URL: "https://traces.example/{traceId}",
  },
])("settings that the broker can use are accepted: %j", (variables) => {
  checkSettings(variables);
});

it.each([
  [
    { SLUICE_AWS_ACCESS_KEYS: "A:one,B" },
    "SLUICE_AWS_ACCESS_KEYS must be KEY:SECRET, several of them separated by commas.",
  ],
  [{ SLUICE_AWS_ACCOUNT_ID: "42" }, "SLUICE_AWS_ACCOUNT_ID must have twelve digits."],
  [
    { SLUICE_PUBLIC_URL: "user:secret@queues" },
    "SLUICE_PUBLIC_URL must be an absolute URL of http: or https: without a user, a query and a fragment, such as " +
      "https://queues.example.com.",
  ],
  ...[
    ...["secret", "whsec_", "whsec-AAAA", "whsec_!!", `${secretOf(24).slice(0, -1)}`, `x${secretOf(24)}`],
    ...[secretOf(ALERTS_KEY_BYTES_MIN - 1), secretOf(ALERTS_KEY_BYTES_MAX + 1), `${secretOf(24)}\n`],
  ].map((secret): [Record<string, string>, string] => [
    { SLUICE_ALERTS_SECRET: secret },
    "SLUICE_ALERTS_SECRET must be whsec_ and a key of 24 to 64 bytes in base64, such as " +
      "whsec_$(openssl rand -base64 24).",
  ]),
  [{ SLUICE_TRUST_PROXY: "1" }, "SLUICE_TRUST_PROXY must be true or false."],
  [{ SLUICE_TRACE_RATIO: "10%" }, "SLUICE_TRACE_RATIO must be a number from 0 to 1, such as 0.1."],
  [
    { SLUICE_TRACE_URL: "https://traces.example" },
    "SLUICE_TRACE_URL must be a URL with {traceId} in it, such as http://localhost:16686/trace/{traceId}.",
  ],
  [
    { SLUICE_API_TOKENS: "good,a b" },
    "SLUICE_API_TOKENS must be tokens without blanks, several of them separated by commas.",
  ],
  ...[",,", " , ", " "].map((list): [Record<string, string>, string] => [
    { SLUICE_API_TOKENS: list },
    "SLUICE_API_TOKENS is set, and names no token.",
  ]),
  [
    { SLUICE_PUSH_HOSTS: "localhost,http://x" },
    "SLUICE_PUSH_HOSTS must be hosts, with or without a port, separated by commas, such as db.internal:8080.",
  ],
  [
    { SLUICE_PUSH_HOSTS: "x/path" },
    "SLUICE_PUSH_HOSTS must be hosts, with or without a port, separated by commas, such as db.internal:8080.",
  ],
  [
    { SLUICE_ALLOWED_HOSTS: "https://a.example" },
    "SLUICE_ALLOWED_HOSTS must be names of hosts, separated by commas, such as tunnel.example.com.",
  ],
])("refuses %j and does not repeat a secret", (variables, message) => {
  expect(() => checkSettings(variables)).toThrow(new CliError(message));
});
