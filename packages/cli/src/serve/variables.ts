import type { GeneratedWorker } from "../generate/plan.ts";
import { generatedConfig } from "./durable-objects.ts";

/** Settings of the broker that `sluice serve` takes from the environment of its own process. */
const BROKER_SETTINGS = [
  "SLUICE_ENV",
  "SLUICE_API_TOKENS",
  "SLUICE_ALLOWED_HOSTS",
  "SLUICE_PUSH_HOSTS",
  "SLUICE_AWS_ACCESS_KEYS",
  "SLUICE_AWS_REGION",
  "SLUICE_AWS_ACCOUNT_ID",
  "SLUICE_AWS_STRICT_TIMING",
] as const;

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/i;

/** Whether nobody but programs of this machine reaches a server on an address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Variables and secrets of a Worker: its configuration's, and those of the `.dev.vars` or `.env` files beside it. */
export async function variablesOf(worker: GeneratedWorker): Promise<Record<string, unknown>> {
  const { unstable_getVarsForDev } = await import("wrangler");
  const { vars = {} } = generatedConfig(worker);
  const bindings = unstable_getVarsForDev(worker.configFile, undefined, vars, undefined, true);
  return Object.fromEntries(Object.entries(bindings).map(([name, { value }]) => [name, value]));
}

/**
 * Variables of the broker: its own, overridden by the environment of this process. Unless one of them says otherwise,
 * `SLUICE_ENV` is `local` on an address of this machine alone, where everybody who reaches the port may use the broker;
 * on any other it is not set, and the broker's HTTP API is closed until there are tokens.
 */
export function brokerVariables(
  own: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  host: string,
): Record<string, unknown> {
  const given = BROKER_SETTINGS.flatMap((name) => {
    const value = env[name] ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return { ...(isLoopback(host) ? { SLUICE_ENV: "local" } : {}), ...own, ...Object.fromEntries(given) };
}
