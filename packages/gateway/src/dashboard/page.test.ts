import { describe, expect, it } from "vitest";
import { generatedPageParts } from "../../build-page.mjs";
import { directoryOf, OPEN } from "../../test/directory.ts";
import { createGateway } from "../index.ts";
import { PAGE_SCRIPT, PAGE_STYLE } from "./page-parts.generated.ts";

describe("the dashboard's page", () => {
  it("is made of what its sources say: pnpm --filter @sluice/gateway page makes it anew", async () => {
    const parts = (await generatedPageParts()).split("\n");
    expect(parts).toContain(`export const PAGE_SCRIPT = ${JSON.stringify(PAGE_SCRIPT)};`);
    expect(parts).toContain(`export const PAGE_STYLE = ${JSON.stringify(PAGE_STYLE)};`);
  });

  it("is one document that nobody else may frame, and that loads nothing of anybody else's", async () => {
    const response = await createGateway(directoryOf(), OPEN).request("http://localhost:8787/__sluice/");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const page = await response.text();
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).not.toMatch(/src=|https?:\/\/(?!www\.w3\.org)/);
  });
});
