import { CliError } from "../errors.ts";
import type { ModuleMap } from "./stack-frames.ts";

/** How workerd's configuration calls the kinds of modules. */
export type ModuleKind = "esModule" | "commonJsModule" | "text" | "data" | "wasm" | "json";

export interface UploadedModule {
  readonly name: string;
  readonly kind: ModuleKind;
  readonly contents: Uint8Array;
  /** Where its code comes from; `null` where nothing says. */
  readonly map: ModuleMap | null;
}

/** A binding as Cloudflare's API takes it; what else it has depends on the type. */
export interface UploadedBinding {
  readonly name: string;
  readonly type: string;
  readonly [property: string]: unknown;
}

/** What `wrangler deploy` would upload of a Worker: its code, bundled, and what it is to be run with. */
export interface Upload {
  /** The main module first. */
  readonly modules: readonly UploadedModule[];
  readonly bindings: readonly UploadedBinding[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

interface Metadata {
  readonly main_module?: string;
  readonly bindings?: readonly UploadedBinding[];
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
}

const KINDS: Readonly<Record<string, ModuleKind>> = {
  "application/javascript+module": "esModule",
  "application/javascript": "commonJsModule",
  "text/plain": "text",
  "application/octet-stream": "data",
  "application/wasm": "wasm",
  "application/json": "json",
};
const SOURCE_MAP = "application/source-map";

/**
 * Reads the form that `wrangler deploy --dry-run --outfile` writes.
 *
 * @param worker its name, for errors.
 * @param folder the one that Wrangler took for the Worker's: paths of source maps count from there. Absolute.
 * @throws CliError for a Worker that is not made of modules, or of modules that workerd alone does not run.
 */
export async function readUpload(
  form: Uint8Array<ArrayBuffer>,
  worker: string,
  folder: string,
): Promise<Upload> {
  const boundary = Buffer.from(form.subarray(0, 200)).toString("latin1").split("\r\n", 1)[0]?.slice(2);
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const parts = await new Response(form, { headers }).formData();
  const metadata = JSON.parse(String(parts.get("metadata"))) as Metadata;
  const { main_module: main, compatibility_date: compatibilityDate } = metadata;
  if (main === undefined || compatibilityDate === undefined) {
    throw new CliError(`Worker "${worker}" is not made of modules with a compatibility date.`);
  }
  const modules: UploadedModule[] = [];
  for (const [, part] of parts) {
    if (typeof part === "string" || part.type === SOURCE_MAP) continue;
    const kind = KINDS[part.type];
    if (kind === undefined) {
      throw new CliError(
        `Worker "${worker}": sluice serve runs no module of type ${part.type} (${part.name}).`,
      );
    }
    const contents = new Uint8Array(await part.arrayBuffer());
    const map = parts.get(`${part.name}.map`);
    const isMap = map instanceof File && map.type === SOURCE_MAP;
    modules.push({ name: part.name, kind, contents, map: isMap ? { text: await map.text(), folder } : null });
  }
  modules.sort((a, b) => Number(b.name === main) - Number(a.name === main));
  return {
    modules,
    bindings: metadata.bindings ?? [],
    compatibilityDate,
    compatibilityFlags: metadata.compatibility_flags ?? [],
  };
}
