import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ViteProject } from "./vite-project.ts";

it("a configuration outside of Vite's root has its messages, and the lock on them, in one folder", async () => {
  const project = new ViteProject();
  try {
    const { folder } = project;
    mkdirSync(join(folder, "app"));
    const file = join(folder, "vite.config.mjs");
    const text = readFileSync(file, "utf8")
      .replace("defineConfig({", 'defineConfig({ root: "app",')
      .replace(/auxiliaryWorkers: .*?\],/, 'configPath: "../wrangler.jsonc",');
    writeFileSync(file, text);
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
