import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** A variable, with the place that sets it, such as `CLOUDFLARE_ACCOUNT_ID in .env`. */
export interface PlacedVariable {
  readonly value: string;
  readonly place: string;
}

const PREFIX = "CLOUDFLARE_";
/** Variables that Wrangler also takes by an older name, with `CF_` instead. */
const WITH_OLDER_NAMES = [
  "CLOUDFLARE_ACCOUNT_ID",
  "CLOUDFLARE_API_BASE_URL",
  "CLOUDFLARE_API_KEY",
  "CLOUDFLARE_API_TOKEN",
  "CLOUDFLARE_EMAIL",
];
/** Wrangler's variable for the environment. It does not count here: the command has the option `--env` for it. */
const ENVIRONMENT = "CLOUDFLARE_ENV";

/**
 * Collects the variables for Cloudflare as Wrangler does (wrangler 4.164, `loadDotEnv`): from the environment, else
 * from the `.env` files of the current folder, of which later ones override earlier ones.
 *
 * @param env environment of the configurations, "" for the top level.
 */
export function cloudflareVariables(
  cwd: string,
  env: string,
  variables: NodeJS.ProcessEnv,
): Map<string, PlacedVariable> {
  const files = [".env", ".env.local", ...(env === "" ? [] : [`.env.${env}`, `.env.${env}.local`])];
  const fromFiles = files.flatMap((file) =>
    Object.entries(readVariables(join(cwd, file))).map(
      ([name, value]) => [name, value, `${name} in ${file}`] as const,
    ),
  );
  const fromEnv = Object.entries(variables).map(([name, value]) => [name, value, name] as const);
  const variablesByName = new Map(
    [...fromFiles, ...fromEnv].flatMap(([name, value, place]) =>
      value ? [[name, { value, place }] as const] : [],
    ),
  );
  for (const name of WITH_OLDER_NAMES) {
    const older = variablesByName.get(name.replace(PREFIX, "CF_"));
    if (older !== undefined && !variablesByName.has(name)) variablesByName.set(name, older);
  }
  return new Map([...variablesByName].filter(([name]) => name.startsWith(PREFIX) && name !== ENVIRONMENT));
}

function readVariables(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}
