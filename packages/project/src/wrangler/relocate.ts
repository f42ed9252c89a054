import { createRequire } from "node:module";
import nodePath, { isAbsolute, join, type PlatformPath, resolve } from "node:path";
import type { Unstable_Config } from "wrangler";

/** Folders of a configuration that is moved. All paths are absolute. */
export interface Relocation {
  /** Folder of the user's configuration. */
  readonly from: string;
  /** Folder of the generated one. */
  readonly to: string;
  /** Folder against which Wrangler has resolved some paths when it read the configuration: the current one. */
  readonly workingDirectory: string;
}

/**
 * Rewrites the paths of a configuration that Wrangler has read, so that a copy of it in another folder leads to the
 * same files. `main` stays as it is, since the generated entry replaces it.
 *
 * Wrangler leaves some paths relative to the configuration, and makes others absolute or relative to the current
 * folder. Each line below says which it is (wrangler 4.164, `normalizeAndValidateConfig`).
 */
export function relocate(config: Unstable_Config, relocation: Relocation): Unstable_Config {
  const { from, to, workingDirectory } = relocation;
  /** Moves a path that is relative to the configuration, or absolute. */
  const move = (path: string) => relativePath(to, resolve(from, path));
  /** Moves a path that Wrangler made relative to the current folder. */
  const moveResolved = (path: string) => relativePath(to, resolve(workingDirectory, path));
  const moveAll = (paths: Record<string, string> | undefined) => paths && mapValues(paths, moveResolved);

  return {
    ...config,
    ...defined("base_dir", config.base_dir && move(config.base_dir)),
    ...defined("tsconfig", config.tsconfig && moveResolved(config.tsconfig)),
    ...defined("assets", config.assets && relocateAssets(config.assets, move)),
    ...defined("site", config.site && relocateSite(config.site, move)),
    ...defined("wasm_modules", moveAll(config.wasm_modules)),
    ...defined("text_blobs", moveAll(config.text_blobs)),
    ...defined("data_blobs", moveAll(config.data_blobs)),
    ...defined("alias", config.alias && mapValues(config.alias, (target) => resolveAlias(target, from))),
    ...defined(
      "containers",
      config.containers?.map((container) => relocateImages(container, move)),
    ),
    build: relocateBuild(config.build, from, moveResolved),
    d1_databases: config.d1_databases.map((database) => ({
      ...database,
      ...defined("migrations_dir", database.migrations_dir && move(database.migrations_dir)),
    })),
  };
}

type Container = NonNullable<Unstable_Config["containers"]>[number];

/** Moves the named images of a container. Its `image` and `image_build_context` are absolute already. */
function relocateImages(container: Container, move: (path: string) => string): Container {
  if (!container.images) return container;
  return {
    ...container,
    images: mapValues(container.images, (image) =>
      image.dockerfile === undefined
        ? image
        : {
            ...image,
            dockerfile: move(image.dockerfile),
            ...defined("build_context", image.build_context && move(image.build_context)),
          },
    ),
  };
}

function relocateAssets(assets: NonNullable<Unstable_Config["assets"]>, move: (path: string) => string) {
  return { ...assets, ...defined("directory", assets.directory && move(assets.directory)) };
}

/** Moves a site, and removes the deprecated `entry-point`, with which Wrangler would refuse the generated `main`. */
function relocateSite(site: NonNullable<Unstable_Config["site"]>, move: (path: string) => string) {
  return { ...omit(site, "entry-point"), bucket: move(site.bucket) };
}

/**
 * Moves a custom build. Wrangler runs it in its current folder, usually the Worker's. Several Workers have no such
 * folder in common, so the build of each runs in the folder of its configuration.
 */
function relocateBuild(
  build: Unstable_Config["build"],
  from: string,
  moveResolved: (path: string) => string,
): Unstable_Config["build"] {
  if (build.command === undefined) return build;
  const { watch_dir: watched } = build;
  return {
    ...build,
    cwd: resolve(from, build.cwd ?? "."),
    ...defined(
      "watch_dir",
      Array.isArray(watched) ? watched.map(moveResolved) : watched && moveResolved(watched),
    ),
  };
}

/**
 * Resolves the target of an alias from the folder of the user's configuration, as Wrangler would. A package that is not
 * installed stays as it is written, and Wrangler reports it.
 */
function resolveAlias(target: string, from: string): string {
  if (isAbsolute(target)) return target;
  try {
    return createRequire(join(from, "wrangler.json")).resolve(target);
  } catch {
    return target.startsWith(".") ? resolve(from, target) : target;
  }
}

function mapValues<V, W>(record: Readonly<Record<string, V>>, map: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

/** Makes `{[key]: value}`, or an empty object for `undefined`: an absent key must stay absent. */
function defined<K extends string, V>(key: K, value: V): { [key in K]?: Exclude<V, undefined> } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: Exclude<V, undefined> });
}

/** Copies an object without some of its keys. */
export function omit<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
  const copy = { ...object };
  for (const key of keys) delete copy[key];
  return copy;
}

/**
 * Makes the path of `target` relative to a folder, for a module specifier or a configuration. It has forward slashes
 * and begins with `./` or `../`, unlike the name of a package. A path on another drive is absolute.
 *
 * @param path rules for paths. Default: those of this system.
 */
export function relativePath(fromDirectory: string, target: string, path: PlatformPath = nodePath): string {
  const between = path.relative(fromDirectory, target);
  const slashed = between.split(path.sep).join("/");
  if (path.isAbsolute(between)) return slashed;
  return slashed.startsWith("../") || slashed === ".." ? slashed : `./${slashed}`;
}
