import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError } from "@sluice/project/errors";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import { TOPOLOGY_FILE } from "@sluice/project/generate/broker-entry";
import type { GeneratedWorker } from "@sluice/project/generate/plan";
import { ENTRY_FILE } from "@sluice/project/generate/worker-config";
import { PAGE_FILE } from "@sluice/project/names";
import { requireOfWrangler } from "@sluice/project/wrangler/load-wrangler";
import type { RunWrangler } from "@sluice/project/wrangler/run-wrangler";
import type { V4ModuleDefinition, V4ModuleRuleType } from "miniflare";
import { withUsersFiles } from "../stacks/build-places.ts";
import type { ModuleMap } from "../stacks/stack-frames.ts";

/** The code of a Worker as a deployment would have it. */
export interface Bundle {
  /** The main module first. */
  readonly modules: V4ModuleDefinition[];
  /** Folder that the modules' names are relative to. Absolute. */
  readonly modulesRoot: string;
  /** Source maps by the modules' URLs in stack traces. */
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
 * Bundles a Worker by Wrangler as for a deployment: with its rules, aliases, custom builds and polyfills.
 *
 * @throws CliError with all of Wrangler's output if it fails.
 */
export async function bundleWorker(
  { name, configFile }: Pick<GeneratedWorker, "name" | "configFile">,
  wrangler: RunWrangler,
): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bundle-"));
  try {
    const file = join(folder, "upload");
    const { code, all } = await wrangler(["deploy", "--dry-run", "--outfile", file, "--config", configFile]);
    if (code !== 0) {
      const text = withUsersFiles(all, dirname(configFile), process.cwd());
      throw new CliError(`Worker "${name}" cannot be bundled.\n${text}`);
    }
    return await readUpload(await readFile(file), name, dirname(configFile));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Bundles the entry of the broker by esbuild. The entry imports only our code and the page, which need none of
 * Wrangler's steps, and Wrangler takes a second to load.
 */
export async function bundleBroker({
  directory,
  files,
}: Pick<GeneratedWorker, "directory" | "files">): Promise<Bundle> {
  const modulesRoot = join(directory, BUNDLE_FOLDER);
  const path = join(modulesRoot, ENTRY_FILE);
  const ready = readyBroker(directory, modulesRoot, files);
  if (ready !== null) return ready;
  const { build } = requireOfWrangler<typeof import("esbuild")>("esbuild");
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
  return {
    modules: [{ type: "ESModule", path, contents: code ?? "" }, ...pageModules(modulesRoot, files)],
    modulesRoot,
    maps: new Map([[pathToFileURL(path).href, { text: map ?? "", folder: modulesRoot }]]),
  };
}

/** Import of our packed code in the entry of the broker. The packed code is one file without imports. */
const PACKED_RUNTIME = /(?<=^import \{ defineBroker \} from )"(.*\.js)"/m;
const RUNTIME_FILE = "runtime.js";
const TOPOLOGY_MODULE = "topology.js";

/** Returns the modules of a broker whose code is packed, without bundling; `null` where it runs from source. */
function readyBroker(directory: string, modulesRoot: string, files: GeneratedWorker["files"]): Bundle | null {
  const entry = String(files[ENTRY_FILE]);
  const [, runtime] = PACKED_RUNTIME.exec(entry) ?? [];
  if (runtime === undefined) return null;
  const source = resolve(directory, runtime);
  const code = readFileSync(source, "utf8");
  const map = `${source}.map`;
  const path = join(modulesRoot, RUNTIME_FILE);
  const main = entry
    .replace(PACKED_RUNTIME, `"./${RUNTIME_FILE}"`)
    .replace(`"./${TOPOLOGY_FILE}"`, `"./${TOPOLOGY_MODULE}"`);
  const modules: V4ModuleDefinition[] = [
    { type: "ESModule", path: join(modulesRoot, ENTRY_FILE), contents: main },
    { type: "ESModule", path, contents: code },
    {
      type: "ESModule",
      path: join(modulesRoot, TOPOLOGY_MODULE),
      contents: `export default ${files[TOPOLOGY_FILE]};`,
    },
    ...pageModules(modulesRoot, files),
  ];
  const maps = existsSync(map)
    ? new Map([[pathToFileURL(path).href, { text: readFileSync(map, "utf8"), folder: dirname(source) }]])
    : new Map<string, ModuleMap>();
  return { modules, modulesRoot, maps };
}

function pageModules(modulesRoot: string, files: GeneratedWorker["files"]): V4ModuleDefinition[] {
  const page = files[PAGE_FILE];
  return page instanceof Uint8Array
    ? [{ type: "Data", path: join(modulesRoot, PAGE_FILE), contents: new Uint8Array(page) }]
    : [];
}

/**
 * Reads the multipart form that `wrangler deploy --dry-run --outfile` writes. The modules are also written to disk, so
 * that places of stack traces without a source map can be opened.
 *
 * @param worker name of the Worker, for errors.
 * @param folder folder of the Worker's configuration, to which paths of source maps are relative. Absolute.
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
