import { buildPage } from "@sluice/dashboard/build";
import { NO_PAGE, pageRoutes } from "@sluice/gateway/page";
import { describe, expect, it } from "vitest";

const GZIP = { headers: { "accept-encoding": "gzip, deflate, br" } };
/** Most bytes that a browser loads before the page shows anything. */
const PAGE_BYTES_MAX = 75_000;

describe("the built page", () => {
  it("is equal for equal sources, and stays small", async () => {
    const page = await buildPage();
    expect(Buffer.from(page).equals(Buffer.from(await buildPage()))).toBe(true);
    expect(page.byteLength).toBeLessThan(PAGE_BYTES_MAX);
  });

  // conformance: dashboard
  it("is a document without inline script and style, which no other page may frame", async () => {
    const response = await pageRoutes(await buildPage()).request("/");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const document = await response.text();
    expect(document).not.toMatch(/<style|<script>|style=|https?:\/\//);
    expect(document).toContain('href="api/queues"');
  });

  it("names immutable files, which are sent compressed", async () => {
    const app = pageRoutes(await buildPage());
    const document = await (await app.request("/")).text();
    const names = [...document.matchAll(/"(app\.[0-9a-f]{12}\.(?:js|css))"/g)].map(([, name]) => `/${name}`);
    expect(names.map((name) => name.split(".").at(-1))).toEqual(["css", "js"]);
    for (const name of names) {
      const compressed = await app.request(name, GZIP);
      expect(compressed.headers.get("content-encoding")).toBe("gzip");
      expect(compressed.headers.get("cache-control")).toContain("immutable");
      expect(compressed.headers.get("vary")).toBe("Accept-Encoding");
      const plain = await app.request(name);
      expect(plain.headers.get("content-encoding")).toBeNull();
      const unpacked = compressed.body?.pipeThrough(new DecompressionStream("gzip")) ?? null;
      expect(await new Response(unpacked).text()).toBe(await plain.text());
    }
    expect((await app.request("/app.000000000000.js")).status).toBe(404);
  });
});

it("a broker without the page says so in one line", async () => {
  const response = await pageRoutes(null).request("/");
  expect(response.status).toBe(503);
  expect(await response.text()).toBe(NO_PAGE);
  expect(NO_PAGE.trim().split("\n")).toHaveLength(1);
});
