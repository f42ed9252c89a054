import type { cloudflareTest } from "@cloudflare/vitest-plugin";

type Given = Parameters<typeof cloudflareTest>[0];
type AnyFunction = (...args: never) => unknown;
/** Options object of `cloudflareTest`: typed where `@cloudflare/vitest-plugin` is installed. */
export type PoolOptions = Exclude<Given, AnyFunction>;
/** Argument that `cloudflareTest` hands to a function that returns its options. */
export type PoolContext = Parameters<Extract<Given, AnyFunction>>[0];

export type SluiceOptions = PoolOptions & {
  /** Other Workers of the project, such as one that consumes what the Worker under test sends. */
  readonly auxiliaryWorkers?: readonly {
    /** Its configuration file, or the folder of that. */
    readonly configPath: string;
  }[];
  /** Where the virtual clock begins. Default: now. */
  readonly start?: Date;
};
