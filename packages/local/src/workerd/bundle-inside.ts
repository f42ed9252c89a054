import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError } from "@sluice/project/errors";
import type { GeneratedWorker } from "@sluice/project/generate/plan";
import { loadWrangler, requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { V4ModuleDefinition, V4ModuleRuleType } from "miniflare";
import type { Unstable_Config } from "wrangler";
import { withUsersFiles } from "../stacks/build-places.ts";
import type { ModuleMap } from "../stacks/stack-frames.ts";
import type { Bundle } from "./bundle.ts";

/** Miniflare's types of modules by Wrangler's types. */
const KINDS: Readonly<Record<string, V4ModuleRuleType>> = {
  esm: "ESModule",
  commonjs: "CommonJS",
  text: "Text",
  buffer: "Data",
  "compiled-wasm": "CompiledWasm",
};

/** The part of Miniflare 4 that decides which Node.js modules a Worker has. */
interface Miniflare4 {
  getNodeCompat?(date: string | undefined, flags: string[]): { readonly mode: "als" | "v1" | "v2" | null };
}

/** Returns the build option by which older Wranglers find a Worker's Node.js modules. Newer ones need none. */
function nodejsCompatibility() {
  const { getNodeCompat } = requireOfWrangler<Miniflare4>("miniflare");
  if (getNodeCompat === undefined) return {};
  type Dated = Pick<Unstable_Config, "compatibility_date" | "compatibility_flags">;
  return {
    nodejsCompatMode: ({ compatibility_date: date, compatibility_flags: flags }: Dated) =>
      getNodeCompat(date, flags).mode,
  };
}

/**
 * Bundles a Worker as `wrangler dev` does, by the Wrangler of this process: another process would take a second or two
 * to load Wrangler.
 *
 * Uses Wrangler's development environment with a runtime and a proxy that do nothing but receive the bundle.
 *
 * @throws CliError with Wrangler's message if it fails.
 */
export async function bundleInside({
  name,
  configFile,
}: Pick<GeneratedWorker, "name" | "configFile">): Promise<Bundle> {
  const { unstable_DevEnv: DevEnv } = loadWrangler();
  type Options = NonNullable<ConstructorParameters<typeof DevEnv>[0]>;
  type Runtime = ReturnType<NonNullable<Options["runtimeFactories"]>[number]>;
  type Bundled = Parameters<Runtime["onBundleComplete"]>[0];
  const { promise, resolve, reject } = Promise.withResolvers<Bundled["bundle"]>();
  const nothing = () => {};
  const runtime = {
    onBundleStart: nothing,
    onBundleComplete: ({ bundle }: Bundled) => resolve(bundle),
    onPreviewTokenExpired: nothing,
    teardown: async () => {},
    mf: undefined,
  };
  const proxy = {
    ready: Promise.withResolvers(),
    onConfigUpdate: nothing,
    onBundleStart: nothing,
    onReloadStart: nothing,
    onReloadComplete: nothing,
    teardown: async () => {},
  };
  const wrangler = new DevEnv({
    runtimeFactories: [() => runtime as unknown as Runtime],
    proxyFactory: () => proxy as unknown as ReturnType<NonNullable<Options["proxyFactory"]>>,
  });
  const failed = (event: unknown) => reject(causeOf(event));
  wrangler.once("error", failed);
  wrangler.once("buildFailed", failed);
  try {
    const dev = { logLevel: "none", watch: false, persist: false, inspector: false } as const;
    const build = nodejsCompatibility();
    const set = wrangler.config.set({ config: configFile, env: "", dev, build }, true).then(() => promise);
    const bundle = await Promise.race([set, promise]);
    const modulesRoot = dirname(bundle.path);
    const others = bundle.modules.map(({ name: file, type, content }): V4ModuleDefinition => {
      const kind = KINDS[type ?? "esm"];
      if (kind === undefined) {
        throw new CliError(`Worker "${name}": no module of type ${type} is run (${file}).`);
      }
      const contents = typeof content === "string" ? content : new Uint8Array(content);
      return { type: kind, path: join(modulesRoot, file), contents };
    });
    return {
      modules: [{ type: "ESModule", path: bundle.path, contents: bundle.entrypointSource }, ...others],
      modulesRoot,
      maps: mapsOf(bundle.path),
    };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const named = withUsersFiles(text, dirname(configFile), process.cwd());
    throw new CliError(`Worker "${name}" cannot be bundled.\n${named}`);
  } finally {
    await wrangler.teardown();
  }
}

function causeOf(event: unknown): unknown {
  return event instanceof Error ? event : ((event as { readonly cause?: unknown }).cause ?? event);
}

/** Reads the source map beside a module, by the module's URL; none where there is no map. */
function mapsOf(path: string): Map<string, ModuleMap> {
  const file = `${path}.map`;
  if (!existsSync(file)) return new Map();
  return new Map([[pathToFileURL(path).href, { text: readFileSync(file, "utf8"), folder: dirname(file) }]]);
}
