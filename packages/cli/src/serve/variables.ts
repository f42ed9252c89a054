import { BROKER_SETTINGS, setVariables } from "../generate/broker-settings.ts";
import type { GeneratedWorker } from "../generate/plan.ts";
import { generatedConfig } from "./durable-objects.ts";

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
 *
 * @param endpoints names of the variables that HTTP endpoints are called with.
 */
export function brokerVariables(
  own: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  host: string,
  endpoints: readonly string[] = [],
): Record<string, unknown> {
  const given = setVariables(["SLUICE_ENV", ...BROKER_SETTINGS, ...endpoints], env);
  return { ...(isLoopback(host) ? { SLUICE_ENV: "local" } : {}), ...own, ...given };
}

/** What the admin API lets this process in by, and the broker's variables for it. */
export interface Admission {
  readonly vars: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Lets this process use the broker's admin API where not everybody may: by a token that nobody else knows. */
export function admit(vars: Readonly<Record<string, unknown>>, token: string): Admission {
  const { SLUICE_API_TOKENS: tokens, SLUICE_ENV: env } = vars;
  const isOpen = env === "development" || env === "local";
  const given = typeof tokens === "string" ? tokens : "";
  if (given.trim() === "" && isOpen) return { vars, headers: {} };
  return {
    vars: { ...vars, SLUICE_API_TOKENS: `${given},${token}` },
    headers: { authorization: `Bearer ${token}` },
  };
}
