import { CliError } from "../../errors.ts";
import type { RunWrangler } from "../../wrangler/run-wrangler.ts";

/** Headers that say to Cloudflare's API who asks, as Wrangler is logged in. */
export async function loginHeaders(wrangler: RunWrangler): Promise<Record<string, string>> {
  const { code, out, all } = await wrangler(["auth", "token", "--json"]);
  const credentials = code === 0 ? readCredentials(out) : null;
  if (credentials === null) {
    throw new CliError(
      `Wrangler is not logged in to Cloudflare. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN.\n${all}`,
    );
  }
  return credentials;
}

function readCredentials(text: string): Record<string, string> | null {
  try {
    const { token, key, email } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
    if (token !== undefined) return { authorization: `Bearer ${token}` };
    return key === undefined || email === undefined ? null : { "x-auth-key": key, "x-auth-email": email };
  } catch {
    return null;
  }
}
