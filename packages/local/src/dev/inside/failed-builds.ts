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

/** How the first build of a Worker goes, or the first after a change of its configuration. */
export interface BuildEvent {
  readonly kind: "build";
  readonly worker: string;
  /** One that has failed waits for a change of the sources. */
  readonly state: "begun" | "failed" | "done";
}

type Esbuild = { context(options: BuildOptions): Promise<BuildContext> };

/** Wrangler's reason for an error of a build after which it does not look at the sources any more. */
const NOT_WATCHED = "Failed to construct initial bundle";

/** Builds a Worker again whose first build has failed, each time its sources change. */
export function failedBuilds(wrangler: string, tell: (event: BuildEvent) => void): WranglerListener {
  const require = createRequire(wrangler);
  return retries({ watch: (...args) => watchSources(require("esbuild") as Esbuild, ...args), tell });
}

interface RetryOptions {
  /** Calls `onChange` when a source of the Worker changes, or has since a moment. Resolves to what ends that. */
  watch(config: WorkerConfig, sinceMs: number, onChange: () => void): Promise<() => void>;
  tell(event: BuildEvent): void;
}

/**
 * Watches the sources of a Worker where Wrangler does not, and has it read the configuration again when one changes: then
 * it builds anew.
 */
export function retries({ watch, tell }: RetryOptions): WranglerListener {
  const waiting = new Map<DevEnvironment, Promise<() => void>>();
  const startedMs = new Map<DevEnvironment, number>();
  /** Names by which Workers were told of whose build is not done. */
  const undone = new Map<DevEnvironment, string>();
  const tellOf = (environment: DevEnvironment, worker: string, state: "begun" | "failed") => {
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
      if (config !== undefined && !startedMs.has(environment)) tellOf(environment, config.name, "begun");
      startedMs.set(environment, Date.now());
    }
    if (event.type === "bundleComplete") {
      endWatch(environment);
      const worker = undone.get(environment);
      undone.delete(environment);
      if (worker !== undefined) tell({ kind: "build", worker, state: "done" });
    }
    const isOver = isFailedBuild(event) && event.reason === NOT_WATCHED;
    if (!isOver || config === undefined || config.dev?.watch === false) return;
    endWatch(environment);
    // Wrangler keeps its flags with what has led to an event, and a change of a file is led to by nothing.
    const again = AsyncResource.bind(() => void environment.config.patch?.({}));
    waiting.set(environment, watch(config, startedMs.get(environment) ?? Date.now(), again));
    tellOf(environment, config.name, "failed");
  };
}

/**
 * Watches all that esbuild finds from the main module on, and the folders that an import which it does not find may
 * come to be in.
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
            // One may have changed since Wrangler read it.
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
  // Not a time to come: such a file would always have changed.
  return mtimeMs > sinceMs && mtimeMs <= Date.now();
}
