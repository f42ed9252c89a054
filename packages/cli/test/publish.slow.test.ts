import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { nodeRefusal } from "@sluice/project/node-version/refusal";
import { afterAll, describe, expect, it } from "vitest";
import { HAS_OTHERS, OTHERS } from "./others.ts";
import { packed } from "./pack.ts";

const ROOT = join(import.meta.dirname, "../../..");
const ARCHIVE_BYTES_MAX: Readonly<Record<string, number>> = {
  sluice: 2_300_000,
  "@sluice/testing": 560_000,
  "@sluice/vite": 700_000,
};

/** Module paths without the Node.js of this workspace. */
const MACHINE = { PATH: "/usr/local/bin:/usr/bin:/bin" };
/** Exports for Workers, which any Node.js can load. */
const FOR_WORKERS: readonly string[] = ["./trace", "./worker"];

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly license?: string;
  readonly exports?: Readonly<Record<string, unknown>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

const IN_PAGE = ["packages/dashboard/node_modules/preact", "packages/dashboard/node_modules/uplot"];
const IN_BROKER = ["packages/gateway/node_modules/hono", "packages/gateway/node_modules/zod"];
/** Bundles without a source map, by archive: the page, and the minified broker. */
const UNMAPPED: Readonly<Record<string, readonly string[]>> = {
  sluice: IN_PAGE,
  "@sluice/testing": IN_BROKER,
  "@sluice/vite": [...IN_PAGE, ...IN_BROKER],
};

/** Lists the modules of Node.js in an archive, each of which needs a source map. */
const NODE_MODULES: Readonly<Record<string, string>> = {
  sluice: "dist/{*,dev/**/*,wrangler/*,standalone/*}.js",
  "@sluice/testing": "dist/{index,vitest}.js",
  "@sluice/vite": "dist/index.js",
};

/** Failing calls of our code, one for each package, whose stack is printed. */
const FAILS: Readonly<Record<string, string>> = {
  sluice: "({ sluiceWorkers }) => sluiceWorkers({ workers: [null], configPath: 5 })",
  "@sluice/testing": "({ createQueueRuntime }) => createQueueRuntime(null)",
  "@sluice/vite": "({ sluice }) => sluice(null)",
};

/** Lists the sources of a file in a package, by their paths in the repository. */
function sourcesOf(folder: string, file: string): string[] {
  const { sources } = JSON.parse(readFileSync(`${join(folder, file)}.map`, "utf8")) as { sources: string[] };
  return sources.map((source) => relative(folder, resolve(folder, dirname(file), source)));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Lists a document's relative links that lead to no file of its package, or to no heading of it. */
function brokenLinksIn(document: string): string[] {
  const text = readFileSync(document, "utf8");
  const targets = [...text.matchAll(/(?<!\w)!?\[(?:[^[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)/g)].map(
    ([, to]) => to ?? "",
  );
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? document : resolve(dirname(document), path);
    if (!existsSync(file)) return true;
    const headings = readFileSync(file, "utf8").match(/(?<=^#+ ).+$/gm) ?? [];
    return anchor !== undefined && !headings.map(anchorOf).includes(anchor);
  });
}

/** Version of the machine's own Node.js; `null` where it is new enough or missing. */
function oldNode(): string | null {
  const { stdout } = spawnSync("node", ["--version"], { env: MACHINE, encoding: "utf8" });
  const version = (stdout ?? "").trim().slice(1);
  return version === "" || nodeRefusal(version) === null ? null : version;
}

const packages = readdirSync(join(ROOT, "packages"))
  .map((name) => join(ROOT, "packages", name))
  .map((folder) => ({ folder, ...manifestOf(folder) }))
  .filter((manifest) => manifest.private !== true);

describe.each(packages)("the archive of $name", ({ name, folder }) => {
  const output = mkdtempSync(join(tmpdir(), "sluice-publish-"));
  afterAll(() => rmSync(output, { recursive: true, force: true }));
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: ROOT, encoding: "utf8", stdio: "pipe" });
  const tool = (tool: string, ...args: string[]) => run(process.execPath, [join(OTHERS, tool), ...args]);

  it("is small, has the licence, and its exports lead to files in it, with types", () => {
    const archive = packed(folder, output);
    const { size } = statSync(archive);
    console.log(`${name}: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(ARCHIVE_BYTES_MAX[name] ?? 0);

    run("tar", ["-xzf", archive, "-C", output]);
    expect(readFileSync(join(unpacked, "LICENSE"), "utf8")).toContain("Apache License");
    expect(readdirSync(unpacked)).toContain("README.md");
    expect(JSON.stringify(manifestOf(unpacked))).not.toMatch(/workspace:|catalog:|\.\/src\//);

    if (!HAS_OTHERS) return;
    expect(tool("publint/src/cli.js", archive, "--strict")).toContain("All good!");
    if (manifestOf(unpacked).exports?.["."] === undefined) return;
    // The check fails on a problem in any resolution of the profile.
    const types = tool("@arethetypeswrong/cli/dist/index.js", archive, "--profile", "esm-only", "--no-color");
    expect(types).toContain("node16 (from ESM)");
  });

  const unpacked = join(output, "package");

  it("has the licence of every package whose code is in it", () => {
    const notices = readFileSync(join(unpacked, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const maps = globSync("dist/**/*.js", { cwd: unpacked }).filter((file) =>
      existsSync(`${join(unpacked, file)}.map`),
    );
    const sources = maps.flatMap((file) => sourcesOf(unpacked, file));
    const folders = new Set(
      sources.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
    );
    for (const path of UNMAPPED[name] ?? []) folders.add(path);
    expect(folders.size).toBeGreaterThan(5);
    for (const path of folders) {
      const its = join(ROOT, path);
      const licence = readdirSync(its).find((file) => /^licen[cs]e/i.test(file));
      const { name, license } = manifestOf(its);
      expect(notices, path).toContain(`${name} `);
      if (licence === undefined) expect(license, path).toBe("Apache-2.0");
      const text = licence === undefined ? join(ROOT, "LICENSE") : join(its, licence);
      expect(notices, path).toContain(readFileSync(text, "utf8").trim());
    }
  });

  it("has source maps to files of the repository, which stack traces name", () => {
    const modules = globSync(NODE_MODULES[name] ?? "", { cwd: unpacked });
    expect(modules.length).toBeGreaterThan(0);
    const sources = modules.flatMap((file) => sourcesOf(unpacked, file));
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    symlinkSync(join(folder, "node_modules"), join(unpacked, "node_modules"));
    const url = pathToFileURL(join(unpacked, `dist/index.js`));
    const program = `const fails = ${FAILS[name]};
      try { await fails(await import("${url}")); } catch (error) { console.log(error.stack); }`;
    const { stdout: stack } = spawnSync(
      process.execPath,
      ["--enable-source-maps", "--input-type=module", "-e", program],
      { encoding: "utf8", env: { ...process.env, NODE_ENV: "development" } },
    );
    const place = /at .*\/(packages\/[\w/-]+\.ts):(\d+):\d+/.exec(stack);
    expect(existsSync(join(ROOT, place?.[1] ?? "no place")), stack).toBe(true);
  });

  it("has documents whose links all lead somewhere", () => {
    const documents = globSync("{README.md,docs/*.md,docs/llms.txt}", { cwd: unpacked });
    // Agents search them, by these packages' brokers.
    if (name !== "@sluice/testing") expect(documents).toContain("docs/llms.txt");
    expect(documents.length).toBeGreaterThan(1);
    const broken = documents.map((document) => [document, brokenLinksIn(join(unpacked, document))]);
    expect(broken.filter(([, links]) => links?.length)).toEqual([]);
    expect(readFileSync(join(unpacked, "README.md"), "utf8")).toMatch(/\]\(docs\/[\w-]+\.md/);
  });

  const old = oldNode();
  it.skipIf(old === null)("tells a Node.js that is too old which version it needs", () => {
    const files = Object.entries(manifestOf(unpacked).exports ?? {}).flatMap(([name, target]) =>
      FOR_WORKERS.includes(name) || typeof target === "string"
        ? []
        : [(target as { default: string }).default],
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const program = `import(${JSON.stringify(join(unpacked, file))}).catch((error) => console.log(String(error)))`;
      const { stdout } = spawnSync("node", ["-e", program], { env: MACHINE, encoding: "utf8" });
      expect(stdout, file).toBe(`Error: ${nodeRefusal(old ?? "")}\n`);
    }
  });
});
