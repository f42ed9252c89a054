import { dirname } from "node:path";
import { fileOf } from "@sluice/local/stacks/file-of";
import type { ModuleMap, ModuleMaps } from "@sluice/local/stacks/stack-frames";

/** Members that are used of a module that Vite has transformed. */
interface ViteModule {
  readonly transformResult: { readonly map: object | null } | null;
}

/** Members that are used of Vite's dev server, which transforms the modules of tests and of the Worker under test. */
export interface ViteServer {
  readonly environments: Readonly<
    Record<
      string,
      { readonly moduleGraph: { getModulesByFile(file: string): Iterable<ViteModule> | undefined } }
    >
  >;
}

/** Source maps of the modules that Vite runs in Workers. Their stack traces name each module by its source file. */
export class ViteMaps implements ModuleMaps {
  readonly #server: ViteServer;
  readonly #known = new WeakMap<object, ModuleMap>();

  constructor(server: ViteServer) {
    this.#server = server;
  }

  get(url: string): ModuleMap | undefined {
    const file = fileOf(url);
    if (file === null) return undefined;
    for (const { moduleGraph } of Object.values(this.#server.environments)) {
      for (const { transformResult } of moduleGraph.getModulesByFile(file.replaceAll("\\", "/")) ?? []) {
        const map = transformResult?.map ?? null;
        if (map !== null) return this.#mapOf(map, file);
      }
    }
    return undefined;
  }

  #mapOf(map: object, file: string): ModuleMap {
    const known = this.#known.get(map) ?? { text: JSON.stringify(map), folder: dirname(file) };
    this.#known.set(map, known);
    return known;
  }
}
