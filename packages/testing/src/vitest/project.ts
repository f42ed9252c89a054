import { realpathSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModuleMaps } from "@sluice/local/stacks/stack-frames";
import { ViteMaps, type ViteServer } from "./vite-maps.ts";

/** Members that are used of a Vitest project. */
interface VitestProject {
  readonly name: string;
  readonly config: { readonly root: string };
  readonly vite: ViteServer & {
    readonly config: { readonly plugins: readonly { readonly name: string }[]; readonly mode: string };
  };
}

/** Vitest project that `sluice` makes options for. */
export interface TestedProject {
  /** Absolute path of the base folder of relative paths. */
  readonly root: string;
  /** Absolute path of the folder of Cloudflare's plugin; `null` where it is not found. */
  readonly pluginFolder: string | null;
  /** Mode of Vite, in which a `cloudflare.config.ts` is evaluated. */
  readonly mode: string;
  /** Name under which the Worker under test runs, independent of its configuration. */
  readonly runner: string;
  /** Source maps of the modules that Vite runs in it. */
  readonly maps: ModuleMaps;
}

/** Prefixes of the Workers in which Cloudflare's plugins run tests, by plugin. */
const RUNNERS: Readonly<Record<string, string>> = {
  "@cloudflare/vitest-plugin": "vitest-plugin-runner-",
  "@cloudflare/vitest-pool-workers": "vitest-pool-workers-runner-",
};

/**
 * Finds the project for which Cloudflare's plugin needs options.
 *
 * The plugin passes no project, but calls the function as a member of its test runner, which has it. The broker needs
 * the project's name, after which the plugin names the Worker under test.
 *
 * @param caller `this` of the function.
 * @throws TypeError for a caller of another kind.
 */
export function projectOf(caller: unknown): TestedProject {
  const { project } = (caller as { readonly options?: { readonly project?: VitestProject } } | undefined)
    ?.options ?? { project: undefined };
  const plugins = project?.vite.config.plugins ?? [];
  const plugin = plugins.map(({ name }) => name).find((name) => name in RUNNERS);
  if (project === undefined || plugin === undefined) {
    throw new TypeError(
      "sluice() of @sluice/testing/vitest makes options for cloudflareTest() of @cloudflare/vitest-plugin 1.x or " +
        "@cloudflare/vitest-pool-workers 0.x: plugins: [cloudflareTest(sluice({ … }))].",
    );
  }
  const { root } = project.config;
  const runner = `${RUNNERS[plugin]}${project.name.replaceAll(/[^a-z0-9-]/gi, "_")}`;
  const { mode } = project.vite.config;
  return { root, pluginFolder: folderOf(plugin, root), mode, runner, maps: new ViteMaps(project.vite) };
}

function folderOf(name: string, root: string): string | null {
  try {
    const manifest = module.findPackageJSON(name, pathToFileURL(join(root, "package.json")));
    return manifest === undefined ? null : dirname(realpathSync(manifest));
  } catch {
    return null;
  }
}
