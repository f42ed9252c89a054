import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { navigate } from "sluice/test/lab";
import { expect, it } from "vitest";
import { ViteProject } from "./vite-project.ts";

/** Path at the beginning of the guide's configuration. */
const CONFIG = `
import { cloudflare } from "@cloudflare/vite-plugin";
import { sluice } from "@sluice/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [cloudflare(sluice())] });
`;

const PAGE = "<!doctype html><title>the app</title>";

it("a configuration outside of Vite's root has its messages in one folder; its pages hide no dashboard", async () => {
  const project = new ViteProject();
  try {
    const { folder } = project;
    mkdirSync(join(folder, "app"));
    writeFileSync(join(folder, "app/index.html"), PAGE);
    const file = join(folder, "wrangler.jsonc");
    const assets = '"assets": { "not_found_handling": "single-page-application" },';
    writeFileSync(file, readFileSync(file, "utf8").replace("{", `{ ${assets}`));
    const config = CONFIG.replace("sluice()", 'sluice({ configPath: "../wrangler.jsonc" })');
    writeFileSync(join(folder, "vite.config.mjs"), config.replace("plugins", 'root: "app", plugins'));
    const server = await project.dev();
    const response = await fetch(`${server.url}/send?body=sent`);
    expect(await response.text(), server.printed()).toMatch(/^\[/);
    expect(existsSync(join(folder, ".wrangler/state/sluice-lock.sqlite"))).toBe(true);
    expect(existsSync(join(folder, ".wrangler/state/v3/do/sluice-QueueBroker"))).toBe(true);
    expect(existsSync(join(folder, "app/.wrangler/state"))).toBe(false);
    // Cloudflare's templates have this option.
    for (const path of ["/", "/some/page", "/send"]) {
      expect(await navigate(server.url + path)).toContain("the app");
    }
    expect(await navigate(`${server.url}/__sluice/`)).toContain('src="app.');
    await server.stop();
  } finally {
    project.remove();
  }
});
