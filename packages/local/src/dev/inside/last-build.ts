import { type DevEnvironment, isFailedBuild, type WranglerListener } from "./wrangler-events.ts";

/** Event: a Worker's change does not build, and the build before it answers requests. */
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
 * Longest that requests wait for a build by esbuild, in ms. A build takes a second or less. Wrangler 4.106 has no event
 * for a failed build, which is noticed by this limit alone.
 */
const BUILD_MS_MAX = 5_000;

/**
 * Has Wrangler's proxy pass requests on to the last build when a build has failed. The proxy holds requests back from
 * the start of a build until a build succeeds, although the workerd of the last build still runs.
 */
export function lastBuilds(tell: (event: LastBuildEvent) => void): WranglerListener {
  const builds = new Map<DevEnvironment, NodeJS.Timeout>();
  /** Environments whose build failed while another workerd was starting. Their event waits until it has started. */
  const failed = new Set<DevEnvironment>();
  let running: Running | null = null;
  const tellLastBuild = ({ config }: DevEnvironment) =>
    tell({ kind: "last-build", worker: config.latestConfig?.name ?? "" });
  const useLastBuild = (environment: DevEnvironment) => {
    if (running === null) {
      failed.add(environment);
      return;
    }
    const { proxyData } = running;
    // Only the environment of the running workerd has a proxy that holds requests.
    if (environment === running.environment) {
      void environment.proxy?.sendMessageToProxyWorker?.({ type: "play", proxyData });
    }
    tellLastBuild(environment);
  };
  return (environment, event) => {
    const { type } = event;
    if (type === "reloadStart") running = null;
    if (type === "reloadComplete") {
      running = { environment, proxyData: event.proxyData };
      failed.forEach(tellLastBuild);
      failed.clear();
    }
    const hasFailed = isFailedBuild(event);
    if (hasFailed || type === "bundleStart" || type === "bundleComplete") {
      clearTimeout(builds.get(environment));
      failed.delete(environment);
    }
    if (hasFailed) useLastBuild(environment);
    // A custom build command of the user's may take long, and Wrangler has an event for its failure.
    const isCommand = environment.config.latestConfig?.build?.custom?.command !== undefined;
    if (type === "bundleStart" && !isCommand) {
      builds.set(environment, setTimeout(() => useLastBuild(environment), BUILD_MS_MAX).unref());
    }
  };
}
