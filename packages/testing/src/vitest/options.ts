import type { cloudflareTest } from "@cloudflare/vitest-plugin";

type Given = Parameters<typeof cloudflareTest>[0];
type AnyFunction = (...args: never) => unknown;
/** Options of `cloudflareTest`, typed where `@cloudflare/vitest-plugin` is installed. */
export type PoolOptions = Exclude<Given, AnyFunction>;
/** Argument of a function that returns the options of `cloudflareTest`. */
export type PoolContext = Parameters<Extract<Given, AnyFunction>>[0];

export type SluiceOptions = PoolOptions & {
  /** Other Workers of the project, such as one that consumes messages of the Worker under test. */
  readonly auxiliaryWorkers?: readonly {
    /** Path of its configuration file, or of that file's folder. */
    readonly configPath: string;
  }[];
  /** Start of the virtual time. Default: now. */
  readonly start?: Date;
};
