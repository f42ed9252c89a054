import { existsSync, readFileSync } from "node:fs";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { sluice } from "@sluice/testing/vitest";
import { defineConfig } from "vitest/config";

const configuration = existsSync("cloudflare.config.ts")
  ? { config: true }
  : { wrangler: { configPath: "./wrangler.jsonc" } };

export default defineConfig({
  plugins: [cloudflareTest(sluice(configuration))],
  test: { provide: { programs: JSON.parse(readFileSync("programs.json", "utf8")) }, testTimeout: 120_000 },
});
