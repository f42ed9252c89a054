import { expect, it } from "vitest";
import { callsPrivateHosts, parsePublicUrl, publicAddressIn } from "./broker-settings.ts";

it.each([
  ["https://queues.example.com", "https://queues.example.com", "queues.example.com", ""],
  [" https://Queues.Example.com/ ", "https://queues.example.com", "queues.example.com", ""],
  ["http://10.0.0.5:8080/a/b//", "http://10.0.0.5:8080", "10.0.0.5:8080", "/a/b"],
  ["https://[::1]:443", "https://[::1]", "[::1]", ""],
])("SLUICE_PUBLIC_URL %s is the origin %s, the host %s and the path '%s'", (text, origin, host, path) => {
  expect(parsePublicUrl(text)).toMatchObject({ origin, host, path });
});

it.each([undefined, "", "  "])("SLUICE_PUBLIC_URL %j is not set", (text) => {
  expect(parsePublicUrl(text)).toBeNull();
});

it.each([
  "queues.example.com",
  "//queues.example.com",
  "/queues",
  "https:queues.example.com",
  "ftp://queues.example.com",
  "https://",
  "https://user:secret@queues.example.com",
  "https://queues.example.com/?a",
  "https://queues.example.com/#a",
])("SLUICE_PUBLIC_URL %s is refused without being repeated", (text) => {
  expect(() => parsePublicUrl(text)).toThrow(
    new RangeError(
      "SLUICE_PUBLIC_URL must be an absolute URL of http: or https: without a user, a query and a fragment, such as " +
        "https://queues.example.com",
    ),
  );
});

it.each([
  [{}, null],
  [{ SLUICE_TRUST_PROXY: "false" }, null],
  [{ SLUICE_TRUST_PROXY: " true " }, "forwarded"],
  [{ SLUICE_TRUST_PROXY: "true", SLUICE_PUBLIC_URL: "https://a.example" }, { host: "a.example" }],
])("with %o clients reach the broker at %o", (env, address) => {
  const found = publicAddressIn(env);
  if (address === null || typeof address === "string") expect(found).toBe(address);
  else expect(found).toMatchObject(address);
});

it.each(["1", "yes", "TRUE"])("SLUICE_TRUST_PROXY %s is refused", (text) => {
  expect(() => publicAddressIn({ SLUICE_TRUST_PROXY: text })).toThrow(
    new RangeError("SLUICE_TRUST_PROXY must be true or false"),
  );
});

const TOKENS = { SLUICE_API_TOKENS: "secret" };
const KEYS = { SLUICE_AWS_ACCESS_KEYS: "AKIA:secret" };

it.each([
  [{}, false],
  [{ SLUICE_ENV: "production" }, false],
  [{ SLUICE_ENV: "local" }, true],
  [{ SLUICE_ENV: "local", SLUICE_API_TOKENS: " ", SLUICE_AWS_ACCESS_KEYS: "" }, true],
  [{ SLUICE_ENV: "local", ...TOKENS }, false],
  [{ SLUICE_ENV: "local", ...KEYS }, false],
  [{ SLUICE_ENV: "local", SLUICE_PUBLIC_URL: "https://queues.example" }, false],
  [{ SLUICE_ENV: "local", SLUICE_TRUST_PROXY: "true" }, false],
  [{ SLUICE_ENV: "local", SLUICE_PUBLIC_URL: " ", SLUICE_TRUST_PROXY: "false" }, true],
  [{ SLUICE_ENV: "development", ...TOKENS, ...KEYS, SLUICE_TRUST_PROXY: "true" }, true],
])("whether a broker with %o calls private hosts is %s", (env, calls) => {
  expect(callsPrivateHosts(env)).toBe(calls);
});
