import { isLoopback } from "./admission.ts";

/**
 * The environment that a command is for: its `--env`, else `CLOUDFLARE_ENV` as Wrangler has it, else the top level
 * ("").
 */
export function chosenEnvironment(option: string | undefined, env: NodeJS.ProcessEnv): string {
  return option ?? env.CLOUDFLARE_ENV ?? "";
}

/**
 * Turns off Wrangler's Local Explorer, which reads and writes what every Durable Object has stored. It asks nobody who
 * they are, and takes a request for this machine's by its `Host`, which its sender chooses.
 */
const WITHOUT_EXPLORER = { X_LOCAL_EXPLORER: "false" };
/** Turns off the traces that are read in the Local Explorer. */
const WITHOUT_OBSERVABILITY = { X_LOCAL_OBSERVABILITY: "false" };

/** Conditions of Wrangler's process besides its variables. */
export interface WranglerSettings {
  /** Address that it listens on. Default: one of this machine alone. */
  readonly host?: string;
  /** Whether it may trace Workers for its Local Explorer. Default: as the environment says, else as Wrangler does. */
  readonly observability?: boolean;
}

/**
 * The environment variables of Wrangler's process: ours without `CLOUDFLARE_ENV`, since the generated configurations
 * are one environment's already, and with our defaults for what the user has not set.
 *
 * On an address that other machines reach, Wrangler has no Local Explorer, whatever the user has set: what they set for
 * this machine alone would open the broker's storage to them. Nothing is traced there, as nobody could read it.
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
