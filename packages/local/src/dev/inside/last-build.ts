import { createRequire } from "node:module";
import type { DevEnvironment, WranglerEvent, WranglerParts } from "./failed-builds.ts";

/** A Worker's change does not build, and requests are answered by the build before it. */
export interface LastBuildEvent {
  readonly kind: "last-build";
  readonly worker: string;
}

/** The workerd that runs, and the environment whose proxy passes requests on to it. */
interface Running {
  readonly environment: DevEnvironment;
  readonly proxyData: unknown;
}

/**
 * Longest that requests wait for a build by esbuild, in ms. One takes a second or less. Only by this is a build that
 * failed noticed where Wrangler has no event for it, as 4.106 has not.
 */
const BUILD_MS_MAX = 5_000;

/** Lets the page, the commands and the Workers answer while a change does not build. */
export function goOnWithLastBuild(wrangler: string, tell: (event: LastBuildEvent) => void): void {
  withLastBuilds(createRequire(wrangler)(wrangler) as WranglerParts, tell);
}

/**
 * Has Wrangler's proxy pass requests on again when a build has failed. It holds them from the start of a build until the
 * next one that succeeds, and the workerd of the last one runs on. A Wrangler without these parts stays as it is.
 */
export function withLastBuilds(
  { unstable_DevEnv }: WranglerParts,
  tell: (event: LastBuildEvent) => void,
): void {
  if (unstable_DevEnv === undefined) return;
  const { prototype } = unstable_DevEnv;
  const { dispatch } = prototype;
  const builds = new Map<DevEnvironment, NodeJS.Timeout>();
  /** Those whose build has failed while another workerd started, which the proxy waits for. */
  const failed = new Set<DevEnvironment>();
  let running: Running | null = null;
  const say = ({ config }: DevEnvironment) =>
    tell({ kind: "last-build", worker: config.latestConfig?.name ?? "" });
  const goOn = (environment: DevEnvironment) => {
    if (running === null) {
      failed.add(environment);
      return;
    }
    const { proxyData } = running;
    // The other Workers' environments have no proxy that holds requests.
    if (environment === running.environment) {
      void environment.proxy?.sendMessageToProxyWorker?.({ type: "play", proxyData });
    }
    say(environment);
  };
  prototype.dispatch = function (this: DevEnvironment, event) {
    Reflect.apply(dispatch, this, [event]);
    const { type } = event;
    if (type === "reloadStart") running = null;
    if (type === "reloadComplete") {
      running = { environment: this, proxyData: event.proxyData };
      failed.forEach(say);
      failed.clear();
    }
    const hasFailed = isFailure(event);
    if (hasFailed || type === "bundleStart" || type === "bundleComplete") {
      clearTimeout(builds.get(this));
      failed.delete(this);
    }
    if (hasFailed) goOn(this);
    // A command of the user's may take long, and Wrangler has an event for one that fails.
    const isCommand = this.config.latestConfig?.build?.custom?.command !== undefined;
    if (type === "bundleStart" && !isCommand) {
      builds.set(this, setTimeout(() => goOn(this), BUILD_MS_MAX).unref());
    }
  };
}

function isFailure({ type, source }: WranglerEvent): boolean {
  return type === "error" && source === "BundlerController";
}
