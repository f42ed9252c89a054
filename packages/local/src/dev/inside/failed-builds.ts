import { statSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import type { BuildContext, BuildOptions } from "esbuild";

/** Configuration of a Worker, as Wrangler has read it. */
interface WorkerConfig {
  readonly name: string;
  /** Its file. Absolute. */
  readonly config?: string;
  /** Main module. Absolute. */
  readonly entrypoint: string;
  readonly build?: Pick<BuildOptions, "alias" | "tsconfig"> & {
    readonly custom?: { readonly command?: string };
  };
  readonly dev?: { readonly watch?: boolean };
}

/** Event of one of the parts that Wrangler runs a Worker with. */
export interface WranglerEvent {
  readonly type: string;
  readonly source?: string;
  readonly reason?: string;
  /** Where the proxy passes requests on to, when a workerd is ready. */
  readonly proxyData?: unknown;
}

/** Wrangler's environment for one Worker. */
export interface DevEnvironment {
  readonly config: { readonly latestConfig?: WorkerConfig };
  readonly proxy?: { sendMessageToProxyWorker?(message: unknown): Promise<unknown> };
  /** Passes each event on to the parts that it concerns. */
  dispatch(event: WranglerEvent): void;
}

/** The part of Wrangler that is changed here. A Wrangler that does not have it stays as it is. */
export interface WranglerParts {
  readonly unstable_DevEnv?: { readonly prototype: DevEnvironment };
}

/** Outcome of a build of a Worker: the first one, or the first after a change of its configuration. */
export interface BuildEvent {
  readonly kind: "build";
  readonly worker: string;
  /** Waits for a change of the sources. */
  readonly hasFailed: boolean;
}

type Esbuild = { context(options: BuildOptions): Promise<BuildContext> };

/** Wrangler's reason for an error of a build after which it does not look at the sources any more. */
const NOT_WATCHED = "Failed to construct initial bundle";

/** Builds a Worker again whose first build has failed, each time its sources change. */
export function retryFailedBuilds(wrangler: string, tell: (event: BuildEvent) => void): void {
  const require = createRequire(wrangler);
  withRetries(require(wrangler) as WranglerParts, {
    watch: (...args) => watchSources(require("esbuild") as Esbuild, ...args),
    tell,
  });
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
export function withRetries({ unstable_DevEnv }: WranglerParts, { watch, tell }: RetryOptions): void {
  if (unstable_DevEnv === undefined) return;
  const { prototype } = unstable_DevEnv;
  const { dispatch } = prototype;
  const waiting = new Map<DevEnvironment, Promise<() => void>>();
  const startedMs = new Map<DevEnvironment, number>();
  const endWatch = (environment: DevEnvironment) => {
    void waiting.get(environment)?.then((end) => end());
    return waiting.delete(environment);
  };
  prototype.dispatch = function (this: DevEnvironment, event) {
    const config = this.config.latestConfig;
    if (event.type === "bundleStart") startedMs.set(this, Date.now());
    if (event.type === "bundleComplete" && endWatch(this)) {
      tell({ kind: "build", worker: config?.name ?? "", hasFailed: false });
    }
    Reflect.apply(dispatch, this, [event]);
    const isOver = event.source === "BundlerController" && event.reason === NOT_WATCHED;
    if (!isOver || config?.config === undefined || config.dev?.watch === false) return;
    const file = config.config;
    endWatch(this);
    waiting.set(
      this,
      watch(config, startedMs.get(this) ?? Date.now(), () => touch(file)),
    );
    tell({ kind: "build", worker: config.name, hasFailed: true });
  };
}

/** Wrangler reads a configuration whose time has changed. */
function touch(file: string): void {
  const now = new Date();
  utimesSync(file, now, now);
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
