import { existsSync } from "node:fs";
import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";
import { defineConfig } from "vite";

const newConfig = existsSync("cloudflare.config.ts");

export default defineConfig({
  plugins: [cloudflare(sluice({ inspectorPort: false, experimental: { newConfig } }))],
});
