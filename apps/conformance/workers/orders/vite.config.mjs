import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [cloudflare(sluice({ inspectorPort: false }))] });
