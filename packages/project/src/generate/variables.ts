import { loadWrangler } from "../wrangler/load-wrangler.ts";
import { BROKER_SETTINGS, setVariables } from "./broker-settings.ts";
import { type GeneratedWorker, generatedConfig } from "./plan.ts";

/**
 * Variables of the broker by its own configuration and the `.dev.vars` or `.env` files beside it. Who may use it is
 * not for a `.dev.vars` to say: that holds for `wrangler dev` on a developer's machine, and opens the broker there.
 */
export async function ownVariablesOf(broker: GeneratedWorker): Promise<Record<string, unknown>> {
  const { unstable_getVarsForDev } = loadWrangler();
  const { vars = {} } = generatedConfig(broker);
  const bindings = unstable_getVarsForDev(broker.configFile, undefined, vars, undefined, true);
  const { SLUICE_ENV: _, ...others } = Object.fromEntries(
    Object.entries(bindings).map(([name, { value }]) => [name, value]),
  );
  return vars.SLUICE_ENV === undefined ? others : { ...others, SLUICE_ENV: vars.SLUICE_ENV };
}

/**
 * Variables of the broker: its own, overridden by the environment of this process.
 *
 * @param endpoints names of the variables that HTTP endpoints are called with.
 */
export function brokerVariables(
  own: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  endpoints: readonly string[] = [],
): Record<string, unknown> {
  const given = setVariables(["SLUICE_ENV", ...BROKER_SETTINGS, ...endpoints], env);
  return { ...own, ...given };
}
