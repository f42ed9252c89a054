import { setVariables, UNWRITTEN_SETTINGS } from "@sluice/project/generate/broker-settings";
import { changeWorker, type MiniflareParts, miniflareOf } from "./miniflare-parts.ts";

/** Gives the broker the settings of this process's environment that may not be written to a file. */
export function giveUnwritten(broker: string, wrangler: string): void {
  const variables = setVariables(UNWRITTEN_SETTINGS, process.env);
  withVariables(miniflareOf(wrangler), broker, variables);
}

/** Adds variables to the broker in the configuration that Miniflare hands to workerd in memory. */
export function withVariables(
  parts: MiniflareParts,
  broker: string,
  variables: Readonly<Record<string, string>>,
): void {
  const bindings = Object.entries(variables).map(([name, text]) => ({ name, text }));
  if (bindings.length === 0) return;
  changeWorker(parts, broker, (worker) => {
    worker.bindings = [...(worker.bindings ?? []), ...bindings];
  });
}
