import { Option } from "commander";

/** Makes the option that chooses an environment, under the names that Wrangler and `cf` have for it. */
export function environmentOption(): Option {
  return new Option(
    "--mode, --env <name>",
    "environment of the configurations, mode of a cloudflare.config.ts (default: CLOUDFLARE_ENV, or the top level)",
  );
}
