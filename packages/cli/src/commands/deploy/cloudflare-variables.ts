import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** A variable, and where it is set: `CLOUDFLARE_ACCOUNT_ID in .env`. */
export interface PlacedVariable {
  readonly value: string;
  readonly place: string;
}

const PREFIX = "CLOUDFLARE_";
/** The command has its own word for it. */
const ENVIRONMENT = "CLOUDFLARE_ENV";

/**
 * Variables for Cloudflare by their names, as Wrangler reads them (wrangler 4.164, `loadDotEnv`): the environment's,
 * else those of the `.env` files of the current folder, of which the later ones override the earlier.
 *
 * @param env the environment of the configurations, "" for the top level.
 */
export function cloudflareVariables(
  cwd: string,
  env: string,
  variables: NodeJS.ProcessEnv,
): Map<string, PlacedVariable> {
  const files = [".env", ".env.local", ...(env === "" ? [] : [`.env.${env}`, `.env.${env}.local`])];
  const found = files.flatMap((file) =>
    Object.entries(readVariables(join(cwd, file))).map(
      ([name, value]) => [name, value, `${name} in ${file}`] as const,
    ),
  );
  const set = Object.entries(variables).map(([name, value]) => [name, value, name] as const);
  return new Map(
    [...found, ...set].flatMap(([name, value, place]) =>
      value && name.startsWith(PREFIX) && name !== ENVIRONMENT ? [[name, { value, place }] as const] : [],
    ),
  );
}

function readVariables(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}
