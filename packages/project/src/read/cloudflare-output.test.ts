import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { CliError } from "../errors.ts";
import { readProject } from "./project.ts";
// Loading takes seconds on a busy machine, which must not count for a test.
import "wrangler";

const OUTPUT = ".cloudflare/output/v1";
const INDEX = "export default { fetch() {}, queue() {} };";
const WORKER = {
  name: "web",
  compatibilityDate: "2026-11-01",
  env: { Q: { type: "queue", name: "q" } },
  triggers: [
    { type: "scheduled", schedule: "* * * * *" },
    { type: "queue", name: "q", maxRetries: 2 },
  ],
  manifest: {
    type: "complete",
    mainModule: "index.js",
    modules: {
      "index.js": { type: "esm" },
      "a.wasm": { type: "wasm" },
      "index.js.map": { type: "sourcemap" },
    },
  },
};

/** A project with the output of a build, and with sources of another name. */
function built({ producer = "vite", worker = WORKER as object, root = {}, files = {} } = {}) {
  return projectFolder({
    "package.json": '{ "type": "module" }',
    [`${OUTPUT}/config.json`]: JSON.stringify({
      producer: { name: producer, version: "1.0.0" },
      settings: { accountId: "abc" },
      buildContext: { isPreview: false },
      ...root,
    }),
    [`${OUTPUT}/workers/default/worker.config.json`]: JSON.stringify(worker),
    [`${OUTPUT}/workers/default/bundle/index.js`]: INDEX,
    "cloudflare.config.ts":
      'export default { worker: { name: "sources", entrypoint: "./index.js", compatibilityDate: "2026-11-01" } };',
    "index.js": INDEX,
    ...files,
  });
}
const read = (workingDirectory: string, targets: string[] = [], env = "") =>
  readProject({ targets, env, workingDirectory });
const names = async (...args: Parameters<typeof read>) =>
  (await read(...args)).workers.map(({ name }) => name);

describe("Build Output", () => {
  it("is run as it is, with the modules that it lists, its assets and the account", async () => {
    const folder = built({
      files: {
        [`${OUTPUT}/workers/default/assets/index.html`]: "",
        "wrangler.toml": "[sluice.queues.q]\nmessage_retention_period = 60\n",
      },
    });
    const { workers, topology } = await read(folder);
    const directory = join(folder, OUTPUT, "workers/default");
    expect(workers).toMatchObject([
      {
        name: "web",
        file: join(directory, "worker.config.json"),
        directory,
        userDirectory: folder,
        wranglerDirectory: folder,
        main: { kind: "default", file: join(directory, "bundle/index.js") },
        wrangler: {
          account_id: "abc",
          no_bundle: true,
          base_dir: join(directory, "bundle"),
          triggers: { crons: ["* * * * *"] },
          assets: { directory: "assets" },
          rules: [
            { type: "ESModule", globs: ["**/index.js"], fallthrough: false },
            { type: "CompiledWasm", globs: ["**/a.wasm"], fallthrough: false },
          ],
        },
      },
    ]);
    expect(topology.queues.q).toMatchObject({
      messageRetentionSeconds: 60,
      producers: [{ worker: "web", binding: "Q" }],
      consumer: { worker: "web", settings: { maxRetries: 2 } },
    });
  });

  it("may leave out its modules of JavaScript", async () => {
    const manifest = { type: "partial", mainModule: "index.js", modules: { "a.txt": { type: "text" } } };
    const { workers } = await read(built({ worker: { ...WORKER, manifest } }));
    expect(workers[0]?.wrangler.rules).toEqual([
      { type: "ESModule", globs: ["**/*.js", "**/*.mjs"], fallthrough: false },
      { type: "Text", globs: ["**/a.txt"], fallthrough: false },
    ]);
  });

  it("has its modules beside the folder of the main module too", async () => {
    const manifest = {
      type: "complete",
      mainModule: "server/index.js",
      modules: { "server/index.js": { type: "esm" }, "words/a.txt": { type: "text" } },
    };
    const folder = built({
      worker: { ...WORKER, manifest },
      files: { [`${OUTPUT}/workers/default/bundle/server/index.js`]: INDEX },
    });
    const bundle = join(folder, OUTPUT, "workers/default/bundle");
    expect((await read(folder)).workers[0]).toMatchObject({
      main: { file: join(bundle, "server/index.js") },
      wrangler: {
        base_dir: bundle,
        rules: [
          { type: "ESModule", globs: ["**/index.js"] },
          { type: "Text", globs: ["**/a.txt"] },
        ],
      },
    });
  });

  it.each(["json", "python", "later"])("is refused with a module of type %s", async (type) => {
    const manifest = { ...WORKER.manifest, modules: { ...WORKER.manifest.modules, "a.x": { type } } };
    await expect(read(built({ worker: { ...WORKER, manifest } }))).rejects.toThrow(
      `default/worker.config.json: Sluice runs no module of type ${type} (a.x).`,
    );
  });

  it.each<[string, unknown]>([
    ["no object", null],
    ["triggers that are no list", { ...WORKER, triggers: {} }],
    ["a manifest without modules", { ...WORKER, manifest: { type: "complete", mainModule: "index.js" } }],
    ["a binding that is none", { ...WORKER, env: { Q: null } }],
  ])("is refused by its file for %s", async (_, worker) => {
    const error = await read(built({ worker: worker as object })).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).message).toMatch(
      /default\/worker\.config\.json: Build Output that cannot be used \(.+\)\. Build it again\.$/,
    );
  });

  it("of Wrangler is left for the sources, unless it is named or there are none", async () => {
    const folder = built({ producer: "wrangler" });
    expect(await names(folder)).toEqual(["sources"]);
    expect(await names(folder, ["."])).toEqual(["sources"]);
    expect(await names(folder, [OUTPUT])).toEqual(["web"]);
    expect(await names(folder, [".cloudflare/output"])).toEqual(["web"]);
    expect(await names(folder, ["cloudflare.config.ts"])).toEqual(["sources"]);
    const artifact = projectFolder({
      [`${OUTPUT}/config.json`]: '{ "producer": { "name": "wrangler" } }',
      [`${OUTPUT}/workers/default/worker.config.json`]: JSON.stringify(WORKER),
    });
    expect(await names(artifact)).toEqual(["web"]);
  });

  it("counts for no folder with a Wrangler configuration, whatever its version", async () => {
    const toml = { "wrangler.toml": 'name = "toml"\nmain = "index.js"\ncompatibility_date = "2026-11-01"\n' };
    expect(await names(built({ files: toml }))).toEqual(["toml"]);
    const old = projectFolder({ ...toml, "index.js": INDEX, ".cloudflare/output/v0/config.json": "{}" });
    expect(await names(old)).toEqual(["toml"]);
  });

  it("of another tool stands for the folder, with the default Worker first", async () => {
    const other = JSON.stringify({ ...WORKER, name: "mailer", triggers: [] });
    const folder = built({ files: { [`${OUTPUT}/workers/a/worker.config.json`]: other } });
    expect(await names(folder, ["."])).toEqual(["web", "mailer"]);
    expect(await names(folder, [".", "cloudflare.config.ts"])).toEqual(["web", "mailer"]);
  });

  it("has mistakes with the keys of its file", async () => {
    const folder = built({
      worker: { ...WORKER, triggers: [{ type: "queue", name: "q", maxRetries: 101 }] },
    });
    await expect(read(folder)).rejects.toThrow(/worker\.config\.json: .*worker\.triggers\[0\]\.maxRetries/);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    [
      "an unknown version",
      { ".cloudflare/output/v2/config.json": "{}" },
      /\/\.cloudflare\/output\/v2 is Build Output of version 2, and Sluice reads version 1\./,
    ],
    [
      "an older version",
      { ".cloudflare/output/v0/config.json": "{}" },
      /is Build Output of version 0, and Sluice reads version 1\./,
    ],
    ["a broken file", { [`${OUTPUT}/config.json`]: "{" }, /\/v1: Build Output that cannot be read/],
  ])("is refused for %s", async (_, files, message) => {
    await expect(read(projectFolder(files))).rejects.toThrow(message);
  });

  it.each([
    ["wrangler", { mode: "staging" }, "", "sluice-staging"],
    ["wrangler", { mode: "production" }, "", "sluice-production"],
    ["wrangler", {}, "", "sluice"],
    ["vite", { mode: "staging" }, "", "sluice-staging"],
    // Every build by Vite has a mode.
    ["vite", { mode: "production" }, "", "sluice"],
    ["vite", { mode: "production" }, "production", "sluice-production"],
  ])(
    "of %s is deployed to the broker of its mode: %j by --mode %j",
    async (producer, buildContext, env, name) => {
      const workingDirectory = built({ producer, root: { buildContext } });
      const targets = [".cloudflare/output/v1"];
      const { broker } = await readProject({ targets, env, workingDirectory, onAccount: {} });
      expect(broker.name).toBe(name);
    },
  );

  it("is refused with containers, and in another mode than its own", async () => {
    const files = { ".cloudflare/output/v1/containers/a/container.config.json": "{}" };
    await expect(read(built({ files }))).rejects.toThrow(
      /containers: Sluice runs no containers of Build Output/,
    );
    const staged = built({ root: { buildContext: { mode: "staging" } } });
    expect(await names(staged, [], "staging")).toEqual(["web"]);
    await expect(read(staged, [], "other")).rejects.toThrow(
      'does not match the target environment "staging"',
    );
  });
});
