import { createRequire } from "node:module";
import { setVariables, UNWRITTEN_SETTINGS } from "@sluice/project/generate/broker-settings";
import type { MiniflareParts } from "./untraced.ts";

/** Prefix of the name of each Worker's service. */
const SERVICE_PREFIX = "core:user:";

/** Gives the broker the settings of this process's environment that no file may have. */
export function giveUnwritten(broker: string, wrangler: string): void {
  const variables = setVariables(UNWRITTEN_SETTINGS, process.env);
  withVariables(createRequire(wrangler)("miniflare") as MiniflareParts, broker, variables);
}

/** Adds variables to those of the broker, in what Miniflare hands to workerd: that is in memory alone. */
export function withVariables(
  { CORE_PLUGIN }: MiniflareParts,
  broker: string,
  variables: Readonly<Record<string, string>>,
): void {
  const bindings = Object.entries(variables).map(([name, text]) => ({ name, text }));
  if (CORE_PLUGIN === undefined || bindings.length === 0) return;
  const { getServices } = CORE_PLUGIN;
  CORE_PLUGIN.getServices = async (...options) => {
    const result = await Reflect.apply(getServices, CORE_PLUGIN, options);
    const services = result === undefined || !("services" in result) ? (result ?? []) : result.services;
    for (const { name, worker } of services) {
      if (name === `${SERVICE_PREFIX}${broker}` && worker !== undefined)
        worker.bindings = [...(worker.bindings ?? []), ...bindings];
    }
    return result;
  };
}
