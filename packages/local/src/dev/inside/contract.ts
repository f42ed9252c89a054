import type { LinesContext } from "./wrangler-lines.ts";

/** Settings of our code in Wrangler's process. Plain data. */
export interface InsideSettings {
  readonly lines: LinesContext;
  /**
   * Text in the configuration of the workerd that runs the Workers and the broker: Wrangler has another one as a proxy.
   */
  readonly workerdMark: string;
}

/** Event in the life of the workerd that has the mark. */
export type WorkerdEvent =
  /** It listens on a port of this machine. */
  | { readonly kind: "listening"; readonly port: number }
  /** Wrangler is ending it, to start another one with changed code or for good. */
  | { readonly kind: "ending" }
  /** It has ended, and nobody has asked it to. Wrangler starts another one. */
  | { readonly kind: "died" };

/**
 * Message of our code in Wrangler's process to this one, by the channel between them, on which Wrangler sends strings.
 */
export type FromInside =
  | { readonly sluice: "workerd"; readonly event: WorkerdEvent }
  /** A socket of Wrangler's own choice was another server's when it came to open it. */
  | { readonly sluice: "socket-in-use" };

/** A message as ours; `null` for anything else. */
export function fromInside(message: unknown): FromInside | null {
  return typeof message === "object" && message !== null && "sluice" in message
    ? (message as FromInside)
    : null;
}
