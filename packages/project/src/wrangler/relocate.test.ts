import { join, posix, relative, resolve, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { relativePath, relocate } from "./relocate.ts";
import { readWranglerConfig } from "./wrangler-config.ts";
// Takes seconds on a busy machine, which is no time to take from a test.
import "wrangler";

const BASE = 'name = "api"\nmain = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';

/** A configuration as Wrangler reads it, moved from its folder to `.sluice/api` in it. */
async function relocated(toml: string, files: Record<string, string> = {}) {
  const from = projectFolder({ "wrangler.toml": BASE + toml, ...files });
  const to = join(from, ".sluice/api");
  const { config } = await readWranglerConfig(join(from, "wrangler.toml"), { env: "", quiet: true });
  return { from, to, config: relocate(config, { from, to, workingDirectory: process.cwd() }) };
}

describe("relocate", () => {
  it.each([
    ["assets.directory", '[assets]\ndirectory = "./public"', (c) => c.assets?.directory, "public"],
    ["site.bucket", '[site]\nbucket = "../site"', (c) => c.site?.bucket, "../site"],
    ["base_dir", 'base_dir = "src"', (c) => c.base_dir, "src"],
    ["tsconfig", 'tsconfig = "tsconfig.worker.json"', (c) => c.tsconfig, "tsconfig.worker.json"],
    ["wasm_modules", '[wasm_modules]\nW = "a.wasm"', (c) => c.wasm_modules?.W, "a.wasm"],
    ["text_blobs", '[text_blobs]\nT = "a.txt"', (c) => c.text_blobs?.T, "a.txt"],
    ["data_blobs", '[data_blobs]\nD = "a.bin"', (c) => c.data_blobs?.D, "a.bin"],
    [
      "migrations_dir",
      '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "d"\ndatabase_id = "1"\nmigrations_dir = "sql"',
      (c) => c.d1_databases[0]?.migrations_dir,
      "sql",
    ],
  ] as [
    string,
    string,
    (config: Awaited<ReturnType<typeof relocated>>["config"]) => string | undefined,
    string,
  ][])(
    "%s means the same folder from where the generated configuration lies",
    async (_, toml, value, expected) => {
      const { from, to, config } = await relocated(toml);
      expect(value(config)).toMatch(/^\.\.\//);
      expect(relative(from, resolve(to, value(config) ?? ""))).toBe(expected);
    },
  );

  it("keeps a custom build in the folder of its Worker, and what it watches", async () => {
    const { from, config } = await relocated('[build]\ncommand = "make"\nwatch_dir = ["src", "lib"]');
    expect(config.build).toEqual({ command: "make", cwd: from, watch_dir: ["../../src", "../../lib"] });
  });

  it("runs a custom build in the folder that it names itself", async () => {
    const { from, config } = await relocated('[build]\ncommand = "make"\ncwd = "native"');
    expect(config.build).toEqual({ command: "make", cwd: join(from, "native"), watch_dir: "../../src" });
  });

  it("resolves aliases from the user's folder, as Wrangler does: files, packages and what is missing", async () => {
    const { from, config } = await relocated('[alias]\na = "./src/a.ts"\nb = "b"\nc = "c"\nd = "./gone.ts"', {
      "src/a.ts": "",
      "node_modules/b/package.json": '{"name":"b","main":"main.js"}',
      "node_modules/b/main.js": "",
    });
    expect(config.alias).toEqual({
      a: join(from, "src/a.ts"),
      b: join(from, "node_modules/b/main.js"),
      c: "c",
      d: join(from, "gone.ts"),
    });
  });

  it("drops site.entry-point, beside which Wrangler refuses a main", async () => {
    const { config } = await relocated('[site]\nbucket = "./public"');
    expect(config.site).not.toHaveProperty("entry-point");
  });

  it("moves the Dockerfiles of named container images, and leaves images of a registry", async () => {
    const { from, to, config } = await relocated("");
    const images = {
      built: { dockerfile: "./Dockerfile", build_context: "./docker" },
      pulled: { image: "docker.io/library/redis:8" },
    };
    const moved = relocate(
      { ...config, containers: [{ images }] as never },
      { from, to, workingDirectory: from },
    );
    expect(moved.containers?.[0]?.images).toEqual({
      built: { dockerfile: "../../Dockerfile", build_context: "../../docker" },
      pulled: { image: "docker.io/library/redis:8" },
    });
  });

  it("changes nothing in a configuration without paths", async () => {
    const from = projectFolder({ "wrangler.toml": `${BASE}[vars]\nA = "1"` });
    const { config } = await readWranglerConfig(join(from, "wrangler.toml"), { env: "", quiet: true });
    expect(relocate(config, { from, to: join(from, "elsewhere"), workingDirectory: from })).toEqual(config);
  });
});

describe("relativePath", () => {
  it.each([
    ["C:\\code\\my shop\\.sluice\\front", "C:\\code\\my shop\\src\\index.ts", "../../src/index.ts"],
    ["C:\\code\\shop", "C:\\code\\shop\\src\\index.ts", "./src/index.ts"],
    ["c:\\code\\shop", "C:\\Code\\shop\\a.ts", "./a.ts"],
    ["C:\\code\\shop\\src", "C:\\code\\shop", ".."],
    ["C:\\code\\shop", "C:\\code\\shop\\..a.ts", "./..a.ts"],
    ["D:\\code\\shop", "C:\\Program Files\\sluice\\worker.js", "C:/Program Files/sluice/worker.js"],
  ])("on Windows leads from %s to %s by %s", (from, to, expected) => {
    expect(relativePath(from, to, win32)).toBe(expected);
  });

  it.each([
    ["/code/shop/.sluice/front", "/code/shop/src/index.ts", "../../src/index.ts"],
    ["/code/shop", "/code/shop/a b.ts", "./a b.ts"],
  ])("elsewhere leads from %s to %s by %s", (from, to, expected) => {
    expect(relativePath(from, to, posix)).toBe(expected);
  });
});
