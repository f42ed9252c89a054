import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { V4ModuleDefinition, V4ModuleRuleType } from "miniflare";
import { CliError } from "../../errors.ts";
import type { GeneratedWorker } from "../../generate/plan.ts";
import { ENTRY_FILE } from "../../generate/worker-config.ts";
import { writeIfChanged } from "../../output/write-plan.ts";
import { PAGE_FILE } from "../../page.ts";
import { wranglerFile } from "../../wrangler/load-wrangler.ts";
import type { ModuleMap } from "./stack-frames.ts";

/** The code of a Worker as a deployment would have it. */
export interface Bundle {
  /** The main module first. */
  readonly modules: V4ModuleDefinition[];
  /** Folder that the modules are named from, and written to. Absolute. */
  readonly modulesRoot: string;
  /** Source maps, by the address that stack traces have for the module. */
  readonly maps: ReadonlyMap<string, ModuleMap>;
}

const KINDS: Readonly<Record<string, V4ModuleRuleType>> = {
  "application/javascript+module": "ESModule",
  "application/javascript": "CommonJS",
  "text/plain": "Text",
  "application/octet-stream": "Data",
  "application/wasm": "CompiledWasm",
};
const SOURCE_MAP = "application/source-map";

/** Folder of the bundle, beside the generated configuration. */
const BUNDLE_FOLDER = "bundle";

/**
 * Has Wrangler bundle a Worker as it would for a deployment: with its rules, aliases, custom builds and polyfills.
 *
 * @param env environment variables of Wrangler's process.
 * @throws CliError with everything that Wrangler printed if it fails.
 */
export async function bundleWorker(
  { name, configFile }: Pick<GeneratedWorker, "name" | "configFile">,
  env: NodeJS.ProcessEnv,
): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bundle-"));
  try {
    const file = join(folder, "upload");
    const cli = wranglerFile();
    const args = ["--no-warnings", cli, "deploy", "--dry-run", "--outfile", file, "--config", configFile];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const code = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const printed = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await code) !== 0) throw new CliError(`Worker "${name}" cannot be bundled.\n${printed.join("")}`);
    return await readUpload(await readFile(file), name, dirname(configFile));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Bundles the entry of the broker. It imports nothing but code of ours and the page, which need nothing of what
 * Wrangler does, and that takes a second to load.
 */
export async function bundleBroker({
  directory,
  files,
}: Pick<GeneratedWorker, "directory" | "files">): Promise<Bundle> {
  const { build } = await import("esbuild");
  const modulesRoot = join(directory, BUNDLE_FOLDER);
  const path = join(modulesRoot, ENTRY_FILE);
  const { outputFiles } = await build({
    entryPoints: [join(directory, ENTRY_FILE)],
    outfile: path,
    write: false,
    bundle: true,
    format: "esm",
    target: "es2024",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["cloudflare:*", `./${PAGE_FILE}`],
    sourcemap: "external",
    sourcesContent: false,
  });
  const [map, code] = outputFiles.sort((a, b) => b.path.length - a.path.length).map(({ text }) => text);
  const page = files[PAGE_FILE];
  const data: V4ModuleDefinition[] =
    page instanceof Uint8Array
      ? [{ type: "Data", path: join(modulesRoot, PAGE_FILE), contents: new Uint8Array(page) }]
      : [];
  return {
    modules: [{ type: "ESModule", path, contents: code ?? "" }, ...data],
    modulesRoot,
    maps: new Map([[pathToFileURL(path).href, { text: map ?? "", folder: modulesRoot }]]),
  };
}

/**
 * Reads the form that `wrangler deploy --dry-run --outfile` writes. The modules are written to where stack traces
 * lead that no source map leads on.
 *
 * @param worker its name, for errors.
 * @param folder the one that Wrangler took for the Worker's: paths of source maps count from there. Absolute.
 * @throws CliError for modules that workerd does not run.
 */
export async function readUpload(
  form: Uint8Array<ArrayBuffer>,
  worker: string,
  folder: string,
): Promise<Bundle> {
  const boundary = Buffer.from(form.subarray(0, 200)).toString("latin1").split("\r\n", 1)[0]?.slice(2);
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const parts = await new Response(form, { headers }).formData();
  const { main_module: main } = JSON.parse(String(parts.get("metadata"))) as {
    readonly main_module?: string;
  };
  const modulesRoot = join(folder, BUNDLE_FOLDER);
  const modules: V4ModuleDefinition[] = [];
  const maps = new Map<string, ModuleMap>();
  for (const [, part] of parts) {
    if (typeof part === "string" || part.type === SOURCE_MAP) continue;
    const type = KINDS[part.type];
    if (type === undefined) {
      throw new CliError(
        `Worker "${worker}": sluice serve runs no module of type ${part.type} (${part.name}).`,
      );
    }
    const contents = new Uint8Array(await part.arrayBuffer());
    const path = join(modulesRoot, part.name);
    writeIfChanged(path, contents);
    modules[part.name === main ? "unshift" : "push"]({ type, path, contents });
    const map = parts.get(`${part.name}.map`);
    if (map instanceof File && map.type === SOURCE_MAP) {
      maps.set(pathToFileURL(path).href, { text: await map.text(), folder });
    }
  }
  return { modules, modulesRoot, maps };
}
