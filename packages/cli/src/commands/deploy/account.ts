import { CliError } from "../../errors.ts";
import type { Project } from "../../project/project.ts";

/** Codes of Cloudflare's API for credentials that may not do something. */
const REFUSED_CREDENTIALS = [9_103, 9_106, 9_109, 10_000, 10_001];

/**
 * The account of all configurations and of the environment: each step is deployed to it. `null` where none names one.
 *
 * @throws CliError where they name different ones.
 */
export function accountOf({ workers, broker }: Project, env: NodeJS.ProcessEnv): string | null {
  const named = [
    ...workers.map(({ file, wrangler }) => ({ place: file, id: wrangler.account_id })),
    { place: broker.file ?? "the broker", id: broker.wrangler?.account_id },
    { place: "CLOUDFLARE_ACCOUNT_ID", id: env.CLOUDFLARE_ACCOUNT_ID },
  ].flatMap(({ place, id }) => (id ? [{ place, id }] : []));
  if (new Set(named.map(({ id }) => id)).size <= 1) return named[0]?.id ?? null;
  const lines = named.map(({ place, id }) => `  ${id}  ${place}`);
  throw new CliError(
    `These name different accounts of Cloudflare, and Workers reach a broker of their own account alone:\n${lines.join("\n")}`,
  );
}

/** Credentials, and where they are from. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** In words. */
  readonly source: string;
}

/** Whether Cloudflare has refused who asks, as a code of its API says, or the status where there is none. */
export function refusesCredentials(code: number | undefined, status: number): boolean {
  return code === undefined ? status === 401 || status === 403 : REFUSED_CREDENTIALS.includes(code);
}

/** Explains credentials that Cloudflare has refused: where they are from, for which account, what they need. */
export function credentialsHint({ source }: Pick<Credentials, "source">, account: string | null): string {
  return [
    `The credentials are those of ${source}, and the account is ${account ?? "not named"}.`,
    "A token needs, for that account: Workers Scripts: Edit, Account Settings: Read; and for routes and domains, of their",
    'zones: Workers Routes: Edit. The template "Edit Cloudflare Workers" has all of them:',
    "  https://dash.cloudflare.com/profile/api-tokens",
    "CLOUDFLARE_ACCOUNT_ID, or account_id in the configurations, names the account.",
  ].join("\n");
}

/** The hint where Wrangler says that credentials were refused; else nothing. */
export function hintFor(said: string, credentials: Credentials, account: string | null): string {
  const codes = [...said.matchAll(/\[code: (\d+)\]/g)].map(([, code]) => Number(code));
  return codes.some((code) => refusesCredentials(code, 0))
    ? `\n${credentialsHint(credentials, account)}`
    : "";
}
