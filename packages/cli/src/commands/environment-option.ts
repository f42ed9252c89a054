import { InvalidArgumentError, Option } from "commander";

/** Makes the option that chooses an environment, under the names that Wrangler and `cf` have for it. */
export function environmentOption(): Option {
  return new Option(
    "--mode, --env <name>",
    "environment of the configurations, mode of a cloudflare.config.ts (default: CLOUDFLARE_ENV, or the top level)",
  ).argParser(sameName);
}

/** Refuses a second, different name: the order of two options must not choose the environment. */
function sameName(name: string, before: string | undefined): string {
  if (before === undefined || before === name) return name;
  throw new InvalidArgumentError(`The environment is named already, as '${before}'.`);
}
