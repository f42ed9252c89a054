import { createRequire } from "node:module";
import nodePath, { isAbsolute, join, type PlatformPath, resolve } from "node:path";
import type { Unstable_Config } from "wrangler";

/** Where a configuration comes from and where it goes. All absolute. */
export interface Relocation {
  /** Folder of the user's configuration. */
  readonly from: string;
  /** Folder of the generated one. */
  readonly to: string;
  /** Folder that Wrangler resolved some paths against while it read the configuration: the current one. */
  readonly workingDirectory: string;
}

/**
 * Rewrites every path of a configuration that Wrangler has read, so that a copy of it in another folder means the same
 * files. `main` is not among them: the generated entry takes its place.
 *
 * What Wrangler leaves relative to the configuration, makes absolute, or makes relative to the current folder differs
 * from field to field; each line below says which it is (wrangler 4.164, `normalizeAndValidateConfig`).
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

/** `image` and `image_build_context` of a container are absolute already; the named images are not. */
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

/** Drops the deprecated `entry-point`, beside which Wrangler would refuse the generated `main`. */
function relocateSite(site: NonNullable<Unstable_Config["site"]>, move: (path: string) => string) {
  return { ...omit(site, "entry-point"), bucket: move(site.bucket) };
}

/**
 * A custom build runs in the current folder of `wrangler`, which is the Worker's own when it is started there, as
 * people do. Several Workers have no such folder in common, so each keeps its own.
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
 * Wrangler resolves an alias from the folder of the configuration; here that is done beforehand. A package that is not
 * installed stays as it is written, for Wrangler to complain about.
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

/** `{[key]: value}`, or nothing at all for `undefined`: an absent key must stay absent. */
function defined<K extends string, V>(key: K, value: V): { [key in K]?: Exclude<V, undefined> } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: Exclude<V, undefined> });
}

/** A copy of an object without some of its keys. */
export function omit<T extends object, K extends keyof T>(object: T, ...keys: readonly K[]): Omit<T, K> {
  const copy = { ...object };
  for (const key of keys) delete copy[key];
  return copy;
}

/**
 * `target` as a module specifier or configuration value seen from `fromDirectory`: always with forward slashes and
 * always with a leading `./` or `../`, so that nobody takes it for a package. One of another drive is absolute.
 *
 * @param path the system's. Default: this one's.
 */
export function relativePath(fromDirectory: string, target: string, path: PlatformPath = nodePath): string {
  const between = path.relative(fromDirectory, target);
  const slashed = between.split(path.sep).join("/");
  if (path.isAbsolute(between)) return slashed;
  return slashed.startsWith("../") || slashed === ".." ? slashed : `./${slashed}`;
}
