import { readFileSync } from "node:fs";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { sluice } from "@sluice/testing/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [cloudflareTest(sluice({ config: true }))],
  test: { provide: { programs: JSON.parse(readFileSync("programs.json", "utf8")) }, testTimeout: 120_000 },
});
