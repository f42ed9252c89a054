import { takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import type { Surroundings } from "../../../surroundings.ts";
import { type Credentials, checkAccount } from "../../deploy/account.ts";
import { CloudflareApi } from "../../deploy/cloudflare-api.ts";
import { cloudflareVariables } from "../../deploy/cloudflare-variables.ts";
import { login } from "../../deploy/login.ts";
import { API_URL, CloudflareQueues } from "./queues-api.ts";

/** The oldest Wrangler whose `auth token` answers in JSON. */
const WRANGLER = { who: "Wrangler's login", oldest: "4.74.0" };

/**
 * Opens the queues of an account: by `CLOUDFLARE_API_KEY` and `CLOUDFLARE_EMAIL`, else by `CLOUDFLARE_API_TOKEN`, else
 * by Wrangler's login. `CLOUDFLARE_ACCOUNT_ID` names the account where the login opens several. The accounts of another
 * server, which `CLOUDFLARE_API_BASE_URL` names, may have any name. A `.env` of the current folder counts as for
 * Wrangler.
 *
 * @throws CliError without credentials, and where no account or several come into question.
 */
export async function openCloudflare({
  cwd,
  env,
}: Pick<Surroundings, "cwd" | "env">): Promise<CloudflareQueues> {
  const variables = cloudflareVariables(cwd, "", env);
  const named = variables.get("CLOUDFLARE_ACCOUNT_ID");
  const account = named?.value ? { id: named.value, place: named.place } : null;
  const apiUrl = variables.get("CLOUDFLARE_API_BASE_URL")?.value ?? API_URL;
  if (account !== null) checkAccount(account, apiUrl === API_URL);
  const lasting = credentialsIn(variables);
  const renew = () => loginIn(cwd, { ...env, ...valuesOf(variables) });
  const credentials = lasting ?? (await renew());
  const id = await new CloudflareApi({ ...credentials, named: account, apiUrl }).account();
  return new CloudflareQueues({ credentials, ...(lasting === null ? { renew } : {}), account: id, apiUrl });
}

type Variables = ReturnType<typeof cloudflareVariables>;

function credentialsIn(variables: Variables): Credentials | null {
  const key = variables.get("CLOUDFLARE_API_KEY");
  const email = variables.get("CLOUDFLARE_EMAIL");
  if (key !== undefined && email !== undefined) {
    const headers = { "x-auth-key": key.value, "x-auth-email": email.value };
    return { headers, source: `${key.place} and ${email.place}` };
  }
  const token = variables.get("CLOUDFLARE_API_TOKEN");
  return token === undefined
    ? null
    : { headers: { authorization: `Bearer ${token.value}` }, source: token.place };
}

/** Reads Wrangler's login in a new process: one that has read it before would not see a renewed token. */
async function loginIn(cwd: string, env: NodeJS.ProcessEnv): Promise<Credentials> {
  takeWranglerOf([cwd], WRANGLER);
  const wrangler = wranglerIn(cwd, env);
  try {
    return await login(wrangler);
  } finally {
    wrangler[Symbol.dispose]();
  }
}

function valuesOf(variables: Variables): NodeJS.ProcessEnv {
  return Object.fromEntries([...variables].map(([name, { value }]) => [name, value]));
}
