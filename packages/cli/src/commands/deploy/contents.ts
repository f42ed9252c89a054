import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CliError } from "@sluice/project/errors";
import { omit } from "@sluice/project/wrangler/relocate";
import type { RunWrangler } from "@sluice/project/wrangler/run-wrangler";
import { canonicalJson, PROTOCOL_VERSION } from "@sluice/protocol";
import { type Part, withoutServices } from "./parts.ts";
import type { Wanted } from "./steps.ts";

/** Folder of a bundle, beside those of the Workers: none of them may have that name. */
const BUNDLE_FOLDER = ".bundle";
/** Files that Wrangler writes beside a bundle and never uploads as code. */
const NOT_CODE = /(?:\.map|^README\.md)$/;

/**
 * Bundles a part as a deployment would, and computes a tag of its contents: equal code, configuration and assets give
 * equal tags. Secrets do not count.
 *
 * @throws CliError with Wrangler's output for a part that cannot be bundled. Nothing has been deployed then.
 */
export async function bundled(part: Part, wrangler: RunWrangler): Promise<Wanted> {
  const folder = join(dirname(dirname(part.configFile)), BUNDLE_FOLDER);
  // A command that was killed leaves the folder behind.
  rmSync(folder, { recursive: true, force: true });
  try {
    const args = ["deploy", "--dry-run", "--config", part.configFile, "--outdir", folder];
    const { code, all } = await wrangler(args);
    if (code !== 0) throw new CliError(`"${part.name}" cannot be deployed. Wrangler says:\n${all}`);
    const files = [...filesIn(folder)].filter(([name]) => !NOT_CODE.test(name));
    const contents = [
      ...files.map(([name, bytes]) => [name, withStablePaths(bytes, part)] as const),
      ...assetsOf(part),
    ];
    return {
      part,
      tag: tagOf(contents, withoutPaths(part.config, part)),
      tagWithout: (workers) => tagOf(contents, withoutPaths(withoutServices(part, workers), part)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a tag with the protocol's number, 22 of Cloudflare's 25 characters. A contract: later releases read it. */
function tagOf(contents: readonly (readonly [name: string, bytes: Buffer])[], config: string): string {
  const hash = createHash("sha256").update(config);
  for (const [name, bytes] of contents) hash.update(`\0${name}\0${bytes.length}\0`).update(bytes);
  return `sluice-p${PROTOCOL_VERSION}-${hash.digest("hex").slice(0, 12)}`;
}

type Places = Pick<Part, "directory" | "configFile">;

/**
 * Paths of modules, relative to the generated configuration, as esbuild writes them into a bundle: in a comment before
 * a module, and as the name of a CommonJS one.
 */
const MODULE_PATH = /^(\/\/ | +")(\.\.\/[^"\n]*)(?="\(|$)/gm;

/** Makes the paths of modules relative to the Worker's folder, since the command's folder must not change the tag. */
function withStablePaths(bytes: Buffer, places: Places): Buffer {
  const text = bytes.toString("utf8");
  // A binary module stays as it is.
  if (!Buffer.from(text).equals(bytes)) return bytes;
  return Buffer.from(
    text.replace(MODULE_PATH, (_, before: string, path: string) => `${before}${seenFrom(places, path)}`),
  );
}

function seenFrom({ directory, configFile }: Places, path: string): string {
  return relative(directory, resolve(dirname(configFile), path));
}

/** Keys that name sources, whose contents are in the bundle, and keys that say how the bundle is made. */
const BUNDLE_KEYS = [
  "main",
  "base_dir",
  "tsconfig",
  "build",
  "alias",
  "wasm_modules",
  "text_blobs",
  "data_blobs",
];

interface ConfigWithPaths {
  readonly assets?: { readonly directory?: string };
  readonly site?: { readonly bucket: string };
  readonly d1_databases?: readonly { readonly migrations_dir?: string }[];
}

/** Removes the keys of a configuration that are not deployed and depend on the folder of the checkout. */
function withoutPaths(config: string, places: Places): string {
  const { assets, site, d1_databases, ...others } = JSON.parse(config) as ConfigWithPaths;
  return canonicalJson({
    ...omit(others as Record<string, unknown>, ...BUNDLE_KEYS),
    // The files themselves are counted (`assetsOf`).
    ...(assets === undefined ? {} : { assets: omit(assets, "directory") }),
    ...(site === undefined ? {} : { site: { ...site, bucket: seenFrom(places, site.bucket) } }),
    ...(d1_databases === undefined
      ? {}
      : { d1_databases: d1_databases.map((one) => omit(one, "migrations_dir")) }),
  });
}

function assetsOf({ config, configFile }: Part): [string, Buffer][] {
  const { assets } = JSON.parse(config) as { assets?: { directory?: string } };
  const directory = assets?.directory;
  if (directory === undefined) return [];
  return [...filesIn(resolve(dirname(configFile), directory))].map(([name, bytes]) => [
    `assets/${name}`,
    bytes,
  ]);
}

/** Lists all files below a folder, sorted by name. */
function* filesIn(folder: string): Generator<[name: string, bytes: Buffer]> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  for (const name of names) {
    const file = join(folder, name);
    if (statSync(file).isFile()) yield [relative(folder, file), readFileSync(file)];
  }
}
