import { readFileSync } from "node:fs";
import { WRANGLER_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import { describe, expect, it } from "vitest";

const MANIFEST = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

describe("the package", () => {
  it("runs with the user's Wrangler, from the oldest tested version on", () => {
    expect(MANIFEST.peerDependencies).toEqual({ wrangler: `^${WRANGLER_VERSION_MIN}` });
    const { devDependencies } = JSON.parse(
      readFileSync(new URL("../../../check/package.json", import.meta.url), "utf8"),
    );
    expect(devDependencies["wrangler-4.60"]).toBe(`npm:wrangler@${WRANGLER_VERSION_MIN}`);
  });

  it("has no dependency that only this workspace has", () => {
    for (const range of Object.values(MANIFEST.dependencies)) expect(range).toMatch(/^\d/);
  });
});
