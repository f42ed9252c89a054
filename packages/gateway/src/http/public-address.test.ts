import { parsePublicUrl } from "@sluice/protocol";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { directoryOf, OPEN } from "../../test/directory.ts";
import { createGateway } from "../index.ts";
import { PublicAddress } from "./public-address.ts";

const at = (publicUrl: string | undefined) => new PublicAddress(parsePublicUrl(publicUrl));

it.each([
  [undefined, "http://10.0.0.5:8787/__sluice/aws"],
  ["https://queues.example.com", "https://queues.example.com/__sluice/aws"],
  ["https://example.com/queues/", "https://example.com/queues/__sluice/aws"],
])("with SLUICE_PUBLIC_URL %s clients are given %s", (publicUrl, given) => {
  expect(at(publicUrl).urlOf(new URL("http://10.0.0.5:8787/any"), "/__sluice/aws")).toBe(given);
});

it.each([
  ["https://example.com/queues", "http://example.com/a?b=c", "/queues/a"],
  ["https://example.com/queues", "http://127.0.0.1:8787/a?b=c", "/a"],
  ["https://example.com", "http://example.com/a?b=c", "/a"],
  [undefined, "http://example.com/a?b=c", "/a"],
])("with SLUICE_PUBLIC_URL %s the client of %s has signed the path %s", (publicUrl, request, path) => {
  const { pathname, search } = at(publicUrl).sentUrl(new URL(request));
  expect([pathname, search]).toEqual([path, "?b=c"]);
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
      ...{ access: closed, settings, publicUrl: parsePublicUrl(publicUrl) },
    });
    for (const proto of forwarded) {
      await gateway.request(url, { headers: { "x-forwarded-proto": proto } });
    }
    return warn.mock.calls.flat();
  };
  const URL_BEHIND = "http://queues.example.com/__sluice/health";

  it("is warned of once, with what to set", async () => {
    expect(await ask(undefined, URL_BEHIND, "http", "https", "HTTPS, http", "https")).toEqual([
      "A proxy before this broker speaks HTTPS, but the URLs of queues and subscriptions begin with " +
        "http://queues.example.com: clients that go by them send in clear. Set SLUICE_PUBLIC_URL to the address of " +
        "the proxy, such as https://queues.example.com.",
    ]);
  });

  it.each([
    ["https://queues.example.com", URL_BEHIND, "https"],
    [undefined, "https://queues.example.com/__sluice/health", "https"],
    [undefined, URL_BEHIND, "http"],
    [undefined, URL_BEHIND, "http, https"],
  ])("is no reason to warn with SLUICE_PUBLIC_URL %s, of %s by %s", async (publicUrl, url, proto) => {
    expect(await ask(publicUrl, url, proto)).toEqual([]);
  });
});
