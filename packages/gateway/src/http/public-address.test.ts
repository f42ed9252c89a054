import { parsePublicUrl } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { directoryOf, OPEN } from "../../test/directory.ts";
import { createGateway } from "../index.ts";
import { PublicAddress } from "./public-address.ts";

const at = (publicUrl: string | undefined) => new PublicAddress(parsePublicUrl(publicUrl));
const seen = (url: string, headers: Record<string, string> = {}) => ({
  url: new URL(url),
  headers: new Headers(headers),
});

it.each([
  [undefined, "http://10.0.0.5:8787/__sluice/aws"],
  ["https://queues.example.com", "https://queues.example.com/__sluice/aws"],
  ["https://example.com/queues/", "https://example.com/queues/__sluice/aws"],
])("with SLUICE_PUBLIC_URL %s clients are given %s", (publicUrl, given) => {
  const request = seen("http://10.0.0.5:8787/any", { "x-forwarded-host": "forged.example" });
  expect(at(publicUrl).urlOf(request, "/__sluice/aws")).toBe(given);
});

it.each([
  ["https://example.com/queues", "http://example.com/a?b=c", "/queues/a"],
  ["https://example.com/queues", "http://127.0.0.1:8787/a?b=c", "/a"],
  ["https://example.com", "http://example.com/a?b=c", "/a"],
  [undefined, "http://example.com/a?b=c", "/a"],
])("with SLUICE_PUBLIC_URL %s the client of %s has signed the path %s", (publicUrl, request, path) => {
  const { pathname, search } = at(publicUrl).sentUrl(seen(request));
  expect([pathname, search]).toEqual([path, "?b=c"]);
});

describe("a proxy that is trusted", () => {
  const trusting = new PublicAddress("forwarded");
  const given = (proto: string, host: string, prefix: string) =>
    trusting.urlOf(
      seen("http://10.0.0.5:8787/any", {
        "x-forwarded-proto": proto,
        "x-forwarded-host": host,
        "x-forwarded-prefix": prefix,
      }),
      "/__sluice/aws",
    );

  it.each([
    ["https", "queues.example.com", "/", "https://queues.example.com/__sluice/aws"],
    ["HTTPS", "Queues.Example.com:443", "/a/b-c.d/", "https://queues.example.com/a/b-c.d/__sluice/aws"],
    ["http", "[::1]:8080", "", "http://[::1]:8080/__sluice/aws"],
    ["https", "10.1.2.3:8443", "/queues", "https://10.1.2.3:8443/queues/__sluice/aws"],
  ])("a proxy that is trusted that names %s, %s and '%s' is believed", (proto, host, prefix, url) => {
    expect(given(proto, host, prefix)).toBe(url);
  });

  it.each([
    ["https, http", "", ""],
    ["ftp", "", ""],
    ["javascript", "", ""],
    ["", "a.example, b.example", ""],
    ["", "a.example,b.example", ""],
    ["", "user@a.example", ""],
    ["", "a.example/path", ""],
    ["", "a.example:99999", ""],
    ["", "a b", ""],
    ["", "a..example", ""],
    ["", "0x7f.1", ""],
    ["", "[::g]", ""],
    ["", "a".repeat(300), ""],
    ["", "", "queues"],
    ["", "", "//evil.example"],
    ["", "", "/a/../b"],
    ["", "", "/a/%2e%2e"],
    ["", "", "/a?b"],
    ["", "", "/a, /b"],
    ["", "", `/${"a".repeat(300)}`],
  ])("a proxy that is trusted that names '%s', '%s' or '%s' is not", (proto, host, prefix) => {
    expect(given(proto, host, prefix)).toBe("http://10.0.0.5:8787/__sluice/aws");
  });

  it("changes what a client is taken to have signed: its host and its path", () => {
    const headers = { host: "10.0.0.5:8787", "x-forwarded-host": "a.example", "x-forwarded-prefix": "/q" };
    const request = seen("http://10.0.0.5:8787/x?y=z", headers);
    expect(trusting.sentUrl(request).pathname).toBe("/q/x");
    expect(trusting.sentHeaders(request.headers).get("host")).toBe("a.example");
    expect(trusting.sentHeaders(request.headers).get("x-forwarded-prefix")).toBe("/q");
    expect([...trusting.sentHeaders(request.headers).keys()]).toContain("x-forwarded-prefix");
    expect(at(undefined).sentUrl(request).pathname).toBe("/x");
    expect(at(undefined).sentHeaders(request.headers).get("host")).toBe("10.0.0.5:8787");
  });

  it("a proxy that is trusted that names no host leaves the one of the request, beside a protocol of its own", () => {
    const request = seen("http://a.example/any", { "x-forwarded-proto": "https" });
    expect(trusting.urlOf(request, "/__sluice/aws")).toBe("https://a.example/__sluice/aws");
  });
});

describe("a request that came to a proxy by HTTPS", () => {
  let warn: MockInstance<typeof console.warn>;
  beforeEach(() => {
    warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());
  const closed = { kind: "closed", reason: "" } as const;
  const settings = { home: { region: "us-east-1", account: "000000000000" }, isStrictAboutTime: false };
  const ask = async (publicUrl: string | undefined, url: string, ...forwarded: string[]) => {
    const gateway = createGateway(directoryOf(), OPEN, {
      access: closed,
      settings,
      publicAddress: publicUrl === "forwarded" ? publicUrl : parsePublicUrl(publicUrl),
    });
    for (const proto of forwarded) {
      await gateway.request(url, { headers: { "x-forwarded-proto": proto } });
    }
    return warn.mock.calls.flat();
  };
  const URL_BEHIND = "http://queues.example.com/__sluice/health";

  it("is warned of once, with the setting to make, and without a name out of a request", async () => {
    expect(await ask(undefined, URL_BEHIND, "http", "https", "HTTPS, http", "https")).toEqual([
      "A proxy before this broker speaks HTTPS, but the URLs of queues and subscriptions begin with http: clients " +
        "that go by them send in clear. Set SLUICE_PUBLIC_URL to the address of the proxy, as " +
        "https://NAME-OF-THE-PROXY, or SLUICE_TRUST_PROXY=true if it overwrites X-Forwarded-Proto, X-Forwarded-Host " +
        "and X-Forwarded-Prefix.",
    ]);
  });

  it.each([
    ["https://queues.example.com", URL_BEHIND, "https"],
    ["forwarded", URL_BEHIND, "https"],
    [undefined, "https://queues.example.com/__sluice/health", "https"],
    [undefined, URL_BEHIND, "http"],
    [undefined, URL_BEHIND, "http, https"],
  ])("is no reason to warn with SLUICE_PUBLIC_URL %s, of %s by %s", async (publicUrl, url, proto) => {
    expect(await ask(publicUrl, url, proto)).toEqual([]);
  });
});
