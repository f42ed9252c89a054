import { variablesForDev } from "../wrangler/wrangler-config.ts";
import { BROKER_SETTINGS, setVariables } from "./broker-settings.ts";
import { type GeneratedWorker, generatedConfig } from "./plan.ts";

/**
 * Reads the variables of the broker's configuration and of the `.dev.vars` or `.env` files beside it. The `SLUICE_ENV`
 * of these files is left out, since it opens the broker and is meant for `wrangler dev`.
 */
export async function ownVariablesOf(broker: GeneratedWorker): Promise<Record<string, unknown>> {
  const { vars = {} } = generatedConfig(broker);
  const bindings = await variablesForDev(broker.configFile, undefined, vars, undefined, true);
  const { SLUICE_ENV: _, ...others } = Object.fromEntries(
    Object.entries(bindings).map(([name, { value }]) => [name, value]),
  );
  return vars.SLUICE_ENV === undefined ? others : { ...others, SLUICE_ENV: vars.SLUICE_ENV };
}

/**
 * Combines the broker's own variables with those of this process's environment, which take precedence.
 *
 * @param endpoints names of variables for calls to HTTP endpoints.
 */
export function brokerVariables(
  own: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv,
  endpoints: readonly string[] = [],
): Record<string, unknown> {
  const given = setVariables(["SLUICE_ENV", ...BROKER_SETTINGS, ...endpoints], env);
  return { ...own, ...given };
}
