import { isDeepStrictEqual } from "node:util";
import type { Unstable_Config } from "wrangler";

/** A configuration as it is written to a `wrangler.json`. */
export type GeneratedConfig = Readonly<Record<string, unknown>>;

/** Leaves out values that equal Wrangler's defaults, so that the file shows only what differs. */
export function serialisable(config: Partial<Unstable_Config>, defaults: Unstable_Config): GeneratedConfig {
  const known = defaults as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(config).filter(
      ([key, value]) => value !== undefined && !isDeepStrictEqual(value, known[key]),
    ),
  );
}
