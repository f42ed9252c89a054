import type { Measured } from "../workload/run.ts";
import type { Way } from "../workload/ways.ts";

/** Request of the bench to a client process. */
export type ClientRequest =
  | { readonly kind: "run"; readonly way: Way; readonly messages: number }
  | { readonly kind: "stop" };

/** Answer of a client process: one to each `run`, and one when it is connected. */
export type ClientResponse =
  | { readonly kind: "ready" }
  | { readonly kind: "measured"; readonly measured: Measured }
  | { readonly kind: "failed"; readonly reason: string };
