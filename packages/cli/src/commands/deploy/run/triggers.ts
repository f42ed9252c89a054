import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";
import type { RunWrangler } from "@sluice/project/wrangler/run-wrangler";
import type { CloudflareApi } from "../cloudflare-api.ts";
import type { Part } from "../parts.ts";

/**
 * Sets the address, routes, domains and schedules of a Worker whose code is deployed. Wrangler does so after an upload,
 * so a deployment that stopped in between, on any machine, left them as they were.
 *
 * @param asks whether Wrangler may ask before it takes a domain from another Worker.
 * @throws CliError with Wrangler's output.
 */
export async function setTriggers(
  { name, configFile }: Part,
  wrangler: RunWrangler,
  asks: boolean,
): Promise<void> {
  const { code, all } = await wrangler(["triggers", "deploy", "--config", configFile], { asks });
  if (code === 0) return;
  throw new CliError(
    `The code of "${name}" is deployed, but its address, routes, domains and schedules are not all as configured. ` +
      `Run the same command again to go on. Wrangler says:\n${all}`,
  );
}

/**
 * Refuses to take a custom domain from another Worker. Wrangler asks before it does, but takes the domain where it
 * cannot ask.
 *
 * @throws CliError for domains of other Workers.
 */
export async function refuseForeignDomains(parts: readonly Part[], api: CloudflareApi): Promise<void> {
  const lines: string[] = [];
  for (const part of parts) {
    for (const domain of customDomainsOf(part)) {
      const owner = await api.domainOwner(domain);
      if (owner !== null && owner !== part.name) lines.push(`  ${domain}, of "${owner}", for "${part.name}"`);
    }
  }
  if (lines.length === 0) return;
  throw new CliError(
    `These custom domains belong to other Workers:\n${lines.join("\n")}\n` +
      "Nothing was deployed. --yes takes them, and overrides what was edited in Cloudflare's dashboard.",
    EXIT_NOT_CONFIRMED,
  );
}

interface Route {
  readonly pattern: string;
  readonly custom_domain?: boolean;
}

function customDomainsOf({ config }: Part): string[] {
  const { route, routes = [] } = JSON.parse(config) as {
    route?: string | Route;
    routes?: readonly (string | Route)[];
  };
  return [...routes, ...(route === undefined ? [] : [route])].flatMap((one) =>
    typeof one !== "string" && one.custom_domain === true ? one.pattern : [],
  );
}
