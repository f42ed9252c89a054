import { type DevEnvironment, isFailedBuild, type WranglerListener } from "./wrangler-events.ts";

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

/**
 * Has Wrangler's proxy pass requests on again when a build has failed, so that the page, the commands and the Workers
 * answer. It holds them from the start of a build until the next one that succeeds, and the workerd of the last one runs
 * on.
 */
export function lastBuilds(tell: (event: LastBuildEvent) => void): WranglerListener {
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
  return (environment, event) => {
    const { type } = event;
    if (type === "reloadStart") running = null;
    if (type === "reloadComplete") {
      running = { environment, proxyData: event.proxyData };
      failed.forEach(say);
      failed.clear();
    }
    const hasFailed = isFailedBuild(event);
    if (hasFailed || type === "bundleStart" || type === "bundleComplete") {
      clearTimeout(builds.get(environment));
      failed.delete(environment);
    }
    if (hasFailed) goOn(environment);
    // A command of the user's may take long, and Wrangler has an event for one that fails.
    const isCommand = environment.config.latestConfig?.build?.custom?.command !== undefined;
    if (type === "bundleStart" && !isCommand) {
      builds.set(environment, setTimeout(() => goOn(environment), BUILD_MS_MAX).unref());
    }
  };
}
