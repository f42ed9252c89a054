import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "sluice/test/install";
import { packed } from "sluice/test/pack";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ViteProject } from "./vite-project.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const CONFIG = `import { cloudflare } from "@cloudflare/vite-plugin";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [cloudflare({ inspectorPort: false })], // nothing else
});
`;

let project: ViteProject;
let folder: string;

beforeAll(() => {
  project = new ViteProject({ fixture: "shop", hasPackage: false });
  folder = mkdtempSync(join(realpathSync(tmpdir()), "sluice-init-"));
});
afterAll(() => {
  project?.remove();
  rmSync(folder, { recursive: true, force: true });
});

it("sluice init makes a project of Vite's run on the broker, and changes nothing in a second run", async () => {
  for (const name of ["cli", "archives"]) mkdirSync(join(folder, name));
  const bin = install(join(folder, "cli"));
  packed(PACKAGE, join(folder, "archives"));
  writeFileSync(join(project.folder, "vite.config.mjs"), CONFIG);
  // npm needs only the archive.
  const env = { ...process.env, npm_config_offline: "true", npm_config_legacy_peer_deps: "true" };
  const init = (...args: string[]) =>
    execFileSync(process.execPath, [bin, "init", "--from", join(folder, "archives"), ...args], {
      cwd: project.folder,
      env,
      encoding: "utf8",
    });

  const shown = init("--dry-run");
  expect(shown).toContain("+  plugins: [cloudflare(sluice({ inspectorPort: false }))], // nothing else\n");
  expect(shown).toMatch(/^\$ npm install --save-dev \S+\/sluice-vite-0\.1\.0\.tgz$/m);
  expect(readFileSync(join(project.folder, "vite.config.mjs"), "utf8")).toBe(CONFIG);

  init("--yes");
  const { devDependencies } = JSON.parse(readFileSync(join(project.folder, "package.json"), "utf8"));
  expect(Object.keys(devDependencies)).toEqual(["@sluice/vite"]);
  expect(init("--yes")).toBe("There is nothing to change.\n");

  // npm has removed packages that it did not install.
  project.link();
  const server = await project.dev();
  await fetch(`${server.url}/send?body=sent`);
  await vi.waitFor(async () => expect(await (await fetch(server.url)).json()).toEqual(["one sent 1"]), {
    timeout: 100_000,
    interval: 100,
  });
  await server.stop();
});
