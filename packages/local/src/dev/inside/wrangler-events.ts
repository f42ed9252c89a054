import type { BuildOptions } from "esbuild";

/** Configuration of a Worker, as Wrangler has read it. */
export interface WorkerConfig {
  readonly name: string;
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
  /** Error behind an event of type `error`. */
  readonly cause?: Error;
  /** Bundle of a Worker that was built, with the absolute path of its main module. */
  readonly bundle?: { readonly path?: string };
  /** Where the proxy passes requests on to, when a workerd is ready. */
  readonly proxyData?: unknown;
}

/** Wrangler's environment for one Worker. */
export interface DevEnvironment {
  readonly config: {
    readonly latestConfig?: WorkerConfig;
    /** Reads the configuration again, with changes of the command line's options. The Worker is built anew then. */
    patch?(changes: object): Promise<unknown>;
  };
  readonly proxy?: { sendMessageToProxyWorker?(message: unknown): Promise<unknown> };
  /** Passes each event on to the parts that it concerns. */
  dispatch(event: WranglerEvent): void;
}

/** The part of Wrangler whose events are listened to. */
export interface WranglerParts {
  readonly unstable_DevEnv?: { readonly prototype: DevEnvironment };
}

/** Called with an event after Wrangler's own parts. */
export type WranglerListener = (environment: DevEnvironment, event: WranglerEvent) => void;

/** Called with an event before Wrangler's own parts. An event that it takes reaches neither them nor any listener. */
export type WranglerInterceptor = (environment: DevEnvironment, event: WranglerEvent) => "take" | "pass";

/** Passes the events of all Workers to interceptors and listeners. A Wrangler without these parts stays as it is. */
export function listenToWrangler(
  { unstable_DevEnv }: WranglerParts,
  interceptors: readonly WranglerInterceptor[],
  ...listeners: readonly WranglerListener[]
): void {
  if (unstable_DevEnv === undefined) return;
  const { prototype } = unstable_DevEnv;
  const { dispatch } = prototype;
  prototype.dispatch = function (this: DevEnvironment, event) {
    if (interceptors.some((intercept) => intercept(this, event) === "take")) return;
    Reflect.apply(dispatch, this, [event]);
    for (const listener of listeners) listener(this, event);
  };
}

/** Whether a build of a Worker has failed. */
export function isFailedBuild({ type, source }: WranglerEvent): boolean {
  return type === "error" && source === "BundlerController";
}
