import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ViteProject } from "./vite-project.ts";

/** The guide begins with it. */
const CONFIG = `
import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [cloudflare(sluice())] });
`;

it("a configuration outside of Vite's root has its messages, and the lock on them, in one folder", async () => {
  const project = new ViteProject();
  try {
    const { folder } = project;
    mkdirSync(join(folder, "app"));
    const config = CONFIG.replace("sluice()", 'sluice({ configPath: "../wrangler.jsonc" })');
    writeFileSync(join(folder, "vite.config.mjs"), config.replace("plugins", 'root: "app", plugins'));
    const server = await project.dev();
    const response = await fetch(`${server.url}/send?body=sent`);
    expect(await response.text(), server.printed()).toMatch(/^\[/);
    expect(existsSync(join(folder, ".wrangler/state/sluice-lock.sqlite"))).toBe(true);
    expect(existsSync(join(folder, ".wrangler/state/v3/do/sluice-QueueBroker"))).toBe(true);
    expect(existsSync(join(folder, "app/.wrangler/state"))).toBe(false);
    await server.stop();
  } finally {
    project.remove();
  }
});
