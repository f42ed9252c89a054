import { AsyncResource } from "node:async_hooks";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import type { BuildContext, BuildOptions } from "esbuild";
import {
  type DevEnvironment,
  isFailedBuild,
  type WorkerConfig,
  type WranglerListener,
} from "./wrangler-events.ts";

/** State of a Worker's first build, or of its first build after a change of its configuration. */
export interface BuildEvent {
  readonly kind: "build";
  readonly worker: string;
  /** `failed`: the Worker is built again when its sources change. */
  readonly state: "begun" | "failed" | "done";
}

type Esbuild = { context(options: BuildOptions): Promise<BuildContext> };

/** Wrangler's reason in the error event of a build after which it no longer watches the sources. */
const NOT_WATCHED = "Failed to construct initial bundle";

/** Makes the listener that has a Worker whose first build failed built again each time its sources change. */
export function failedBuilds(wrangler: string, tell: (event: BuildEvent) => void): WranglerListener {
  const require = createRequire(wrangler);
  return retries({ watch: (...args) => watchSources(require("esbuild") as Esbuild, ...args), tell });
}

interface RetryOptions {
  /** Calls `onChange` when a source of the Worker changes, or has since `sinceMs`. Resolves to a stop function. */
  watch(config: WorkerConfig, sinceMs: number, onChange: () => void): Promise<() => void>;
  tell(event: BuildEvent): void;
}

/**
 * Watches the sources of a Worker after a build by which Wrangler stops watching them. When a source changes, Wrangler
 * is made to read the configuration again, which starts a build.
 */
export function retries({ watch, tell }: RetryOptions): WranglerListener {
  const waiting = new Map<DevEnvironment, Promise<() => void>>();
  const startedMs = new Map<DevEnvironment, number>();
  /** Names of the Workers whose last event was "begun" or "failed". */
  const undone = new Map<DevEnvironment, string>();
  const tellUndone = (environment: DevEnvironment, worker: string, state: "begun" | "failed") => {
    undone.set(environment, worker);
    tell({ kind: "build", worker, state });
  };
  const endWatch = (environment: DevEnvironment) => {
    void waiting.get(environment)?.then((end) => end());
    waiting.delete(environment);
  };
  return (environment, event) => {
    const { latestConfig: config } = environment.config;
    if (event.type === "bundleStart") {
      if (config !== undefined && !startedMs.has(environment)) tellUndone(environment, config.name, "begun");
      startedMs.set(environment, Date.now());
    }
    if (event.type === "bundleComplete") {
      endWatch(environment);
      const worker = undone.get(environment);
      undone.delete(environment);
      if (worker !== undefined) tell({ kind: "build", worker, state: "done" });
    }
    const isUnwatched = isFailedBuild(event) && event.reason === NOT_WATCHED;
    if (!isUnwatched || config === undefined || config.dev?.watch === false) return;
    endWatch(environment);
    // Wrangler keeps its flags in async context, which the callback of a file watch would not have.
    const again = AsyncResource.bind(() => void environment.config.patch?.({}));
    const watching = watch(config, startedMs.get(environment) ?? Date.now(), again);
    // Wrangler has reported the failed build. A change of the configuration starts the next one all the same.
    waiting.set(
      environment,
      watching.catch(() => () => {}),
    );
    tellUndone(environment, config.name, "failed");
  };
}

/**
 * Watches all sources that esbuild finds from the main module on, and the folders where a missing import may appear.
 */
async function watchSources(
  esbuild: Esbuild,
  config: WorkerConfig,
  sinceMs: number,
  onChange: () => void,
): Promise<() => void> {
  const { entrypoint, build: { alias, tsconfig } = {} } = config;
  const sources = new Set<string>();
  let isFirst = true;
  const context = await esbuild.context({
    entryPoints: [entrypoint],
    bundle: true,
    write: false,
    logLevel: "silent",
    ...(alias === undefined ? {} : { alias }),
    ...(tsconfig === undefined ? {} : { tsconfig }),
    plugins: [
      {
        name: "sources",
        setup(build) {
          build.onLoad({ filter: /.*/ }, ({ path }) => {
            sources.add(path);
            return null;
          });
          build.onEnd(() => {
            // After the first build: a source may have changed between Wrangler's build and this one.
            if (!isFirst || [...sources].some((path) => hasChanged(path, sinceMs))) onChange();
            isFirst = false;
          });
        },
      },
    ],
  });
  await context.watch();
  return () => void context.dispose();
}

function hasChanged(path: string, sinceMs: number): boolean {
  const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // A file with a time in the future would count as changed at each build.
  return mtimeMs > sinceMs && mtimeMs <= Date.now();
}
