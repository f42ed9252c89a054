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

/**
 * The environment variables of Wrangler's process: ours without `CLOUDFLARE_ENV`, since the generated configurations
 * are one environment's already, and with our defaults for what the user has not set.
 *
 * Wrangler's local observability makes every call between Workers about ten times slower (measured: 2,500 calls/s with
 * it, 27,000 without).
 *
 * @param host address that Wrangler listens on, if it does. On one that other machines reach it has no Local Explorer, whatever the
 *   user has set: what they set for this machine alone would open the broker's storage to them.
 */
export function wranglerEnvironment(env: NodeJS.ProcessEnv, host = "localhost"): NodeJS.ProcessEnv {
  const { CLOUDFLARE_ENV: _, ...rest } = env;
  return {
    X_LOCAL_OBSERVABILITY: "false",
    WRANGLER_SEND_METRICS: "false",
    ...rest,
    ...(isLoopback(host) ? {} : WITHOUT_EXPLORER),
  };
}
