import { describe, expect, it } from "vitest";
import { LazyUrl, siteOfUrl } from "./request-url.ts";

const PARTS = ["origin", "host", "pathname"] as const;

describe("the URL of a request", () => {
  it.each([
    "http://127.0.0.1:8787/__sluice/aws",
    "http://localhost:8787/__sluice/aws/",
    "http://localhost/__sluice/aws/000000000000/orders.fifo?Action=ListQueues",
    "http://localhost/__sluice/aws/queue/eu-west-1/000000000000/a-b_c",
    "https://queues.example.com:443/a",
    "http://LOCALHOST:80/a",
    "http://[::1]:8787/a?b#c",
    "http://localhost",
    "http://localhost?a=b",
    "http://localhost#c?d",
    "http://localhost/a//b",
    "http://localhost/a/./b/../c",
    "http://localhost/a/%2e%2e/b",
    "http://localhost/a/..b",
    "http://localhost/a b/ü/%41",
    "http://localhost/a\\b",
    "http://localhost/a?",
    "http://localhost/a?x=%20y&x=+&&z#?w=1",
    "http://localhost/a/?next=http://other/b",
  ])("has the parts of %s that parsing finds", (text) => {
    // The second one is remembered.
    const [, lazy, parsed] = [new LazyUrl(text), new LazyUrl(text), new URL(text)];
    for (const part of PARTS) expect(lazy[part], part).toBe(parsed[part]);
    expect(lazy.search === "").toBe(parsed.search === "");
    expect([...lazy.searchParams]).toEqual([...parsed.searchParams]);
    expect(siteOfUrl(text).hostname).toBe(parsed.hostname);
  });

  it("is read however long it is", () => {
    for (const length of [500, 600]) {
      const text = `http://localhost/${"a".repeat(length)}?b`;
      expect(new LazyUrl(text).pathname).toBe(`/${"a".repeat(length)}`);
      expect(new LazyUrl(text).search).toBe("?b");
    }
  });

  it("that is none says so when it is asked", () => {
    const url = new LazyUrl("http://a b/c");
    expect(url.pathname).toBe("/c");
    expect(() => url.host).toThrow(TypeError);
    expect(() => new LazyUrl("http://a b/c").host).toThrow(TypeError);
  });

  it("is told apart from others however many hosts there are", () => {
    for (let i = 0; i < 1_000; i++) expect(new LazyUrl(`http://h${i}:8787/a`).host).toBe(`h${i}:8787`);
    expect(new LazyUrl("http://h1:8787/a").origin).toBe("http://h1:8787");
  });
});
