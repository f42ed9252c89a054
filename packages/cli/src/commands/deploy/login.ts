import { CliError } from "@sluice/project/errors";
import type { RunWrangler } from "@sluice/project/wrangler/run-wrangler";
import type { Credentials } from "./account.ts";

/** Reads the credentials of Wrangler's login, for Cloudflare's API. */
export async function login(wrangler: RunWrangler): Promise<Credentials> {
  const { code, out, all } = await wrangler(["auth", "token", "--json"]);
  const credentials = code === 0 ? readCredentials(out) : null;
  if (credentials === null) {
    throw new CliError(
      `Wrangler is not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN.\n${all}`,
    );
  }
  return credentials;
}

function readCredentials(text: string): Credentials | null {
  try {
    const { type, token, key, email } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
    if (token !== undefined) {
      const source = type === "oauth" ? '"npx wrangler login"' : "CLOUDFLARE_API_TOKEN";
      return { headers: { authorization: `Bearer ${token}` }, source };
    }
    if (key === undefined || email === undefined) return null;
    return {
      headers: { "x-auth-key": key, "x-auth-email": email },
      source: "CLOUDFLARE_API_KEY and CLOUDFLARE_EMAIL",
    };
  } catch {
    return null;
  }
}
