import { realpathSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Part of a Vitest project that is used here. */
interface VitestProject {
  readonly name: string;
  readonly config: { readonly root: string };
  readonly vite: { readonly config: { readonly plugins: readonly { readonly name: string }[] } };
}

/** The project that options are asked for. */
export interface TestedProject {
  /** Folder that relative paths count from. Absolute. */
  readonly root: string;
  /** Folder of Cloudflare's plugin; `null` where it cannot be told. Absolute. */
  readonly pluginFolder: string | null;
  /** Name under which the Worker under test runs, whatever its configuration calls it. */
  readonly runner: string;
}

/** Prefixes of the names that Cloudflare's plugins give the Workers which they run tests in, by the plugins' names. */
const RUNNERS: Readonly<Record<string, string>> = {
  "@cloudflare/vitest-plugin": "vitest-plugin-runner-",
  "@cloudflare/vitest-pool-workers": "vitest-pool-workers-runner-",
};

/**
 * The project that Cloudflare's plugin asks options for.
 *
 * The plugin hands over no project, but calls the function as a member of what runs the tests, which has it. The broker
 * has to know: what calls a Worker names it, and the plugin calls the Worker under test after the project.
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
  return { root, pluginFolder: folderOf(plugin, root), runner };
}

function folderOf(name: string, root: string): string | null {
  try {
    const manifest = module.findPackageJSON(name, pathToFileURL(join(root, "package.json")));
    return manifest === undefined ? null : dirname(realpathSync(manifest));
  } catch {
    return null;
  }
}
