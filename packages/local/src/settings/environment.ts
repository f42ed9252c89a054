import { isLoopback } from "./admission.ts";

/**
 * Returns the environment that a command is for: its `--env`, else `CLOUDFLARE_ENV` as in Wrangler, else the top level
 * ("").
 */
export function chosenEnvironment(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? env.CLOUDFLARE_ENV ?? "";
}

/**
 * Turns off Wrangler's Local Explorer, which reads and writes the storage of every Durable Object. It has no
 * authentication, and takes a request for a local one by its `Host` header, which the client chooses.
 */
const WITHOUT_EXPLORER = { X_LOCAL_EXPLORER: "false" };
/** Turns off the traces for the Local Explorer. */
const WITHOUT_OBSERVABILITY = { X_LOCAL_OBSERVABILITY: "false" };

/** Conditions of Wrangler's process besides its variables. */
export interface WranglerSettings {
  /** Address that it listens on. Default: one of this machine alone. */
  readonly host?: string;
  /** Whether it may trace Workers for its Local Explorer. Default: as the environment says, else as Wrangler does. */
  readonly observability?: boolean;
}

/**
 * Returns the environment variables of Wrangler's process: ours with defaults, without `CLOUDFLARE_ENV`, since
 * generated configurations are for one environment.
 *
 * On an address that other machines reach, the Local Explorer is off whatever the user has set: it would open the
 * broker's storage to them. Traces are off, too, since they could not be read.
 */
export function wranglerEnvironment(
  env: NodeJS.ProcessEnv,
  { host = "localhost", observability = true }: WranglerSettings = {},
): NodeJS.ProcessEnv {
  const { CLOUDFLARE_ENV: _, ...rest } = env;
  const isOpen = !isLoopback(host);
  return {
    WRANGLER_SEND_METRICS: "false",
    ...rest,
    ...(isOpen ? WITHOUT_EXPLORER : {}),
    ...(isOpen || !observability ? WITHOUT_OBSERVABILITY : {}),
  };
}
