import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError } from "@sluice/project/errors";
import { configFileIn } from "@sluice/project/read/broker";
import { dependsOn, type Manifest, readManifest, withDevScript } from "./manifest.ts";
import { type PackageManager, packageManagerOf } from "./package-manager.ts";
import { type WrappedCall, wrapCalls } from "./tool-config.ts";

/** A file's text before and after the change. */
interface FileChange {
  /** Name of the file in the folder. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** Changes that make a project run on Sluice. */
export interface Changes {
  readonly files: readonly FileChange[];
  /** Folder of the manifest: the project's, or that of the workspace around it. Absolute. */
  readonly root: string;
  /** Packages to install. */
  readonly packages: readonly string[];
  readonly manager: PackageManager;
  /** Command line that starts the project once it is changed. */
  readonly start: string;
  /** Steps to do by hand, a paragraph each. */
  readonly notes: readonly string[];
}

const MANIFEST = "package.json";
const EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".cts", ".cjs"];

/** A tool whose configuration is changed. */
interface Tool extends WrappedCall {
  /** Our package with a `sluice()` for the tool. */
  readonly package: string;
  /** Names of the tool's configuration files, without extensions. */
  readonly files: readonly string[];
  /** Code for a user who has to change the configuration by hand. */
  readonly line: string;
  /** Older module of the tool without a call to wrap, and advice for its users. */
  readonly older?: { readonly module: string; readonly advice: string };
}

const VITE: Tool = {
  from: ["@cloudflare/vite-plugin"],
  name: "cloudflare",
  files: ["vite.config"],
  ours: "@sluice/vite",
  package: "@sluice/vite",
  alias: "sluiceVite",
  line: 'import { sluice } from "@sluice/vite";   plugins: [cloudflare(sluice({ ... }))]',
};
const VITEST: Tool = {
  // The second is the name of the first before its version 1.
  from: ["@cloudflare/vitest-plugin", "@cloudflare/vitest-pool-workers"],
  name: "cloudflareTest",
  ours: "@sluice/testing/vitest",
  package: "@sluice/testing",
  alias: "sluiceTest",
  files: ["vitest.config", "vitest.workspace", "vite.config"],
  line:
    'import { sluice } from "@sluice/testing/vitest";   ' +
    'plugins: [cloudflareTest(sluice({ wrangler: { configPath: "./wrangler.jsonc" } }))]',
  older: {
    module: "@cloudflare/vitest-pool-workers/config",
    advice:
      "defineWorkersConfig() and defineWorkersProject() of @cloudflare/vitest-pool-workers take no sluice(). Move to " +
      "cloudflareTest() of @cloudflare/vitest-plugin, which replaces them " +
      "(https://developers.cloudflare.com/workers/testing/vitest-integration/), and run this again. " +
      "The new configuration is:",
  },
  // `sluice()` reads the queues of the file in `configPath`, and sets a `main` of its own.
  refuse: (args) => {
    if (!/\bconfig(?:Path)?\s*:/.test(args)) return "it names no wrangler.configPath";
    return /\bmain\s*:/.test(args) ? 'it names a "main"' : null;
  },
};

/**
 * Computes the changes that make the project of a folder run on Sluice. Changes nothing.
 *
 * @throws CliError where there is no project.
 */
export function changesFor(folder: string): Changes {
  const root = manifestFolder(folder);
  const text = root === null ? null : read(root, MANIFEST);
  const manifest = text === null ? null : readManifest(text);
  if (root === null || text === null || manifest === null) {
    throw new CliError(
      `There is no ${MANIFEST} in ${folder} or around it. Run this in the folder of a project.`,
    );
  }
  const changed = new Map<string, string>();
  const notes: string[] = [];
  const packages = new Set<string>();
  const change = (tool: Tool) => changeTool(tool, { folder, manifest, changed, notes, packages });
  const isOfVite = change(VITE);
  change(VITEST);
  if (!isOfVite) {
    // A project of Vite's is still run by Vite's own command.
    packages.add("sluice");
    if (root === folder) {
      const scripts = withDevScript(text, manifest);
      changed.set(MANIFEST, scripts.text);
      notes.push(...scripts.notes);
    } else {
      notes.push(
        `The nearest ${MANIFEST} is that of ${root}, whose scripts stay as they are. Run this Worker by: sluice dev`,
      );
    }
  }
  if (configFileIn(folder) === null) {
    const otherwise = isOfVite
      ? "unless the options of cloudflare() have one."
      : 'or name those folders in the script "dev": sluice dev DIR';
    notes.push(
      `There is no configuration of a Worker in this folder. Run this in the folder of each Worker, ${otherwise}`,
    );
  }
  const manager = packageManagerOf(folder, manifest.packageManager);
  const { scripts } = readManifest(changed.get(MANIFEST) ?? text) ?? {};
  const hasScript = root === folder && scripts?.dev !== undefined;
  return {
    files: [...changed].flatMap(([name, after]) => {
      const before = read(folder, name) ?? "";
      return before === after ? [] : [{ name, before, after }];
    }),
    root,
    packages: [...packages].filter((name) => !dependsOn(manifest, name)).sort(),
    manager,
    start: hasScript ? `${manager.name} run dev` : isOfVite ? "npx vite" : "npx sluice dev",
    notes,
  };
}

/** Finds the nearest folder with a manifest: this one, else one around it. */
function manifestFolder(folder: string): string | null {
  if (existsSync(join(folder, MANIFEST))) return folder;
  return dirname(folder) === folder ? null : manifestFolder(dirname(folder));
}

/** Project of a folder, with the changes found so far, which `changeTool` adds to. */
interface Collected {
  readonly folder: string;
  readonly manifest: Manifest;
  /** New contents of files, by name. */
  readonly changed: Map<string, string>;
  readonly notes: string[];
  readonly packages: Set<string>;
}

/** Adds `sluice()` to a tool's configuration, or notes how to do so. Returns whether the project uses the tool. */
function changeTool(tool: Tool, { folder, manifest, changed, notes, packages }: Collected): boolean {
  let isUsed = false;
  for (const name of tool.files.flatMap((base) => EXTENSIONS.map((extension) => `${base}${extension}`))) {
    const before = changed.get(name) ?? read(folder, name);
    if (before === null) continue;
    if (tool.older !== undefined && before.includes(tool.older.module)) {
      isUsed = true;
      notes.push(`${name} cannot be changed here: ${tool.older.advice}\n  ${tool.line}`);
      continue;
    }
    const wrapping = wrapCalls(before, tool);
    if (wrapping.kind === "absent") continue;
    isUsed = true;
    packages.add(tool.package);
    if (wrapping.kind === "wrapped") changed.set(name, wrapping.text);
    if (wrapping.kind === "by-hand") {
      notes.push(`${name} cannot be changed here: ${wrapping.why}. Change it by hand:\n  ${tool.line}`);
    }
  }
  const installed = tool.from.find((name) => dependsOn(manifest, name));
  if (isUsed || installed === undefined) return isUsed;
  notes.push(
    `${installed} is installed, and no configuration of this folder imports ${tool.name} from it. Run this in the ` +
      `folder of the one that does, or change that by hand:\n  ${tool.line}`,
  );
  return true;
}

function read(folder: string, name: string): string | null {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
