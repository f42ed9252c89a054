import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import type { RunWrangler } from "@sluice/project/wrangler/run-wrangler";
import { expect, it } from "vitest";
import { bundled } from "./contents.ts";
import type { Part } from "./parts.ts";

function bundlesTo(code: string): RunWrangler {
  return async (args) => {
    const folder = args[args.indexOf("--outdir") + 1] ?? "";
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "entry.js"), code);
    return { code: 0, out: "", all: "", report: "" };
  };
}

/** Writes a bundle as esbuild does, with paths relative to a folder. */
function bundle(root: string, own: string, value = "1"): string {
  return `var require_cjs = __commonJS({
  "${root}node_modules/cjs/index.js"(exports, module) {
    module.exports = ${value};
  }
});

// ${root}node_modules/sluice/dist/runtime/worker.js
var Consumer = class {};

// ${own}src/index.js
var index_default = {};

// entry.js
export { index_default as default };
`;
}

function partIn(project: string, folder: string, config: Readonly<Record<string, unknown>>): Part {
  return {
    name: "mailer",
    isBroker: false,
    needs: [],
    directory: join(project, "apps/mailer"),
    configFile: join(project, folder, ".sluice/mailer/wrangler.json"),
    config: JSON.stringify({ name: "mailer", main: "./entry.js", ...config }),
  };
}

it("tells the same Worker by the same tag, whichever folder the command runs in", async () => {
  const files = { "apps/mailer/public/index.html": "<p>hello</p>" };
  const [project, copy] = [projectFolder(files), projectFolder(files)];
  const seen = (root: string, own: string, directory: string) => ({
    base_dir: `${own}src`,
    tsconfig: `${root}tsconfig.json`,
    alias: { "sluice:user-main": `${directory}/apps/mailer/src/index.js` },
    assets: { directory: `${own}public`, binding: "ASSETS" },
    site: { bucket: `${own}public` },
    build: { command: "make", cwd: `${directory}/apps/mailer`, watch_dir: `${own}src` },
    d1_databases: [{ binding: "DB", migrations_dir: `${own}migrations` }],
  });
  const atRoot = ["../../", "../../apps/mailer/"] as const;
  const atWorker = ["../../../../", "../../"] as const;
  const tags = [
    await bundled(partIn(project, ".", seen(...atRoot, project)), bundlesTo(bundle(...atRoot))),
    await bundled(partIn(project, "apps/mailer", seen(...atWorker, project)), bundlesTo(bundle(...atWorker))),
    await bundled(partIn(copy, ".", seen(...atRoot, copy)), bundlesTo(bundle(...atRoot))),
  ].map(({ tag }) => tag);
  expect(new Set(tags).size).toBe(1);
});

it("tells another Worker by another tag", async () => {
  const project = projectFolder({ "apps/mailer/public/a.txt": "a", "apps/mailer/other/a.txt": "b" });
  const paths = ["../../", "../../apps/mailer/"] as const;
  const assets = (folder: string, more = {}) => ({ assets: { directory: `${paths[1]}${folder}`, ...more } });
  const workers: [config: Readonly<Record<string, unknown>>, code: string][] = [
    [{}, bundle(...paths)],
    [{}, bundle(...paths, "2")],
    [{}, bundle("../../", "../../apps/other/")],
    [{ vars: { A: "1" } }, bundle(...paths)],
    [{ site: { bucket: "../../apps/mailer/public" } }, bundle(...paths)],
    [{ site: { bucket: "../../apps/mailer/other" } }, bundle(...paths)],
    [assets("public"), bundle(...paths)],
    [assets("other"), bundle(...paths)],
    [assets("other", { binding: "ASSETS" }), bundle(...paths)],
  ];
  const tags = new Set<string>();
  for (const [config, code] of workers) {
    tags.add((await bundled(partIn(project, ".", config), bundlesTo(code))).tag);
  }
  expect(tags.size).toBe(workers.length);
});
