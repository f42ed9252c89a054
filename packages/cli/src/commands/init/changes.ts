import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../errors.ts";
import { configFileIn } from "../../project/broker.ts";
import { dependsOn, readManifest, withDevScript } from "./manifest.ts";
import { type PackageManager, packageManagerOf } from "./package-manager.ts";
import { type WrappedCall, wrapCall } from "./tool-config.ts";

/** A file as it is and as it is to be. */
export interface FileChange {
  /** Its name in the folder. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** What makes a project run on Sluice. */
export interface Changes {
  readonly files: readonly FileChange[];
  /** Packages that are missing. */
  readonly packages: readonly string[];
  readonly manager: PackageManager;
  /** What is left to do by hand, a paragraph each. */
  readonly notes: readonly string[];
}

const MANIFEST = "package.json";
const EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".cts", ".cjs"];

const VITE: WrappedCall & { readonly package: string; readonly line: string } = {
  ...{ from: "@cloudflare/vite-plugin", name: "cloudflare", ours: "@sluice/vite", package: "@sluice/vite" },
  line: 'import { sluice } from "@sluice/vite";   plugins: [cloudflare(sluice({ ... }))]',
};
const VITEST: typeof VITE = {
  ...{ from: "@cloudflare/vitest-plugin", name: "cloudflareTest" },
  ...{ ours: "@sluice/testing/vitest", package: "@sluice/testing" },
  line:
    'import { sluice } from "@sluice/testing/vitest";   ' +
    'plugins: [cloudflareTest(sluice({ wrangler: { configPath: "./wrangler.jsonc" } }))]',
  // It reads the queues of that file, and makes a `main` of its own.
  refuse: (args) => {
    if (!/\bconfigPath\s*:/.test(args)) return "it names no wrangler.configPath";
    return /\bmain\s*:/.test(args) ? 'it names a "main"' : null;
  },
};

/**
 * Works out what makes the project of a folder run on Sluice. Reads its files and changes none.
 *
 * @throws CliError where there is no project.
 */
export function changesFor(folder: string): Changes {
  const text = read(folder, MANIFEST);
  const manifest = text === null ? null : readManifest(text);
  if (text === null || manifest === null) {
    throw new CliError(`There is no ${MANIFEST} in ${folder}. Run this in the folder of a project.`);
  }
  const changed = new Map<string, string>();
  const notes: string[] = [];
  const packages = new Set<string>();
  for (const [tool, bases] of [
    [VITE, ["vite.config"]],
    [VITEST, ["vitest.config", "vite.config"]],
  ] as const) {
    for (const name of bases.flatMap((base) => EXTENSIONS.map((extension) => `${base}${extension}`))) {
      const before = changed.get(name) ?? read(folder, name);
      if (before === null) continue;
      const wrapping = wrapCall(before, tool);
      if (wrapping.kind === "absent") continue;
      packages.add(tool.package);
      if (wrapping.kind === "wrapped") changed.set(name, wrapping.text);
      if (wrapping.kind === "by-hand") {
        notes.push(`${name} cannot be changed here: ${wrapping.why}. Change it by hand:\n  ${tool.line}`);
      }
    }
  }
  if (!packages.has(VITE.package)) {
    // Vite's own command stays what runs a project of Vite's.
    packages.add("sluice");
    const scripts = withDevScript(text, manifest);
    changed.set(MANIFEST, scripts.text);
    notes.push(...scripts.notes);
  }
  if (configFileIn(folder) === null) {
    notes.push(
      "There is no Wrangler configuration in this folder. Name the folders of your Workers: sluice dev DIR",
    );
  }
  return {
    files: [...changed].flatMap(([name, after]) => {
      const before = read(folder, name) ?? "";
      return before === after ? [] : [{ name, before, after }];
    }),
    packages: [...packages].filter((name) => !dependsOn(manifest, name)).sort(),
    manager: packageManagerOf(folder, manifest.packageManager),
    notes,
  };
}

function read(folder: string, name: string): string | null {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}
