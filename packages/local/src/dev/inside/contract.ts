import type { BuildEvent } from "./failed-builds.ts";
import type { FailedLoadEvent } from "./failed-load.ts";
import type { LastBuildEvent } from "./last-build.ts";
import type { LinesContext } from "./wrangler-lines.ts";

/** Settings of our code in Wrangler's process. Plain data. */
export interface InsideSettings {
  readonly lines: LinesContext;
  /**
   * Text in the configuration of the workerd that runs the Workers and the broker: Wrangler has another one as a proxy.
   */
  readonly workerdMark: string;
  /** Wrangler's main module. Absolute. */
  readonly wrangler: string;
}

/** Event in the life of the workerd that has the mark. */
export type WorkerdEvent =
  /** It listens on a port of this machine. */
  | { readonly kind: "listening"; readonly port: number }
  /** Wrangler is ending it, to start another one with changed code or for good. */
  | { readonly kind: "ending" }
  /** It has ended, and nobody has asked it to. Wrangler starts another one. */
  | { readonly kind: "died" };

/** Message of our code in Wrangler's process, by the channel to its parent, on which Wrangler sends strings. */
export interface FromInside {
  /** Something happened to workerd, a build or a Worker, or a socket of Wrangler's own choice was another server's. */
  readonly sluice:
    | WorkerdEvent
    | BuildEvent
    | LastBuildEvent
    | FailedLoadEvent
    | { readonly kind: "socket-in-use" };
}
