import type { BuildEvent } from "./failed-builds.ts";
import type { FailedLoadEvent } from "./failed-load.ts";
import type { LastBuildEvent } from "./last-build.ts";
import type { LinesContext } from "./wrangler-lines.ts";

/** Settings of our code in Wrangler's process. Plain data. */
export interface InsideSettings {
  readonly lines: LinesContext;
  /**
   * Text that only the workerd that runs the Workers and the broker has in its configuration. Wrangler runs a second
   * workerd as a proxy.
   */
  readonly workerdMark: string;
  /** Wrangler's main module. Absolute. */
  readonly wrangler: string;
}

/** Event in the life of the workerd whose configuration contains `workerdMark`. */
export type WorkerdEvent =
  /** It listens on a port of this machine. */
  | { readonly kind: "listening"; readonly port: number }
  /** Wrangler is ending it, to start another one with changed code or for good. */
  | { readonly kind: "ending" }
  /** It has ended by itself. Wrangler starts another one. */
  | { readonly kind: "died" };

/**
 * The workerd by which Wrangler takes requests has ended by itself. Wrangler starts another one, which knows of no
 * Workers: its requests hang.
 */
export interface ProxyDiedEvent {
  readonly kind: "proxy-died";
}

/** Message from our code in Wrangler's process to the parent process. Wrangler itself sends strings on that channel. */
export interface FromInside {
  /** Event; `socket-in-use`: a socket that Wrangler chose was taken by another server. */
  readonly sluice:
    | WorkerdEvent
    | ProxyDiedEvent
    | BuildEvent
    | LastBuildEvent
    | FailedLoadEvent
    | { readonly kind: "socket-in-use" };
}
