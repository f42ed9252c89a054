import { CliError } from "@sluice/project/errors";
import type { Project } from "@sluice/project/read/project";
import type { PlacedVariable } from "./cloudflare-variables.ts";

/** Codes of Cloudflare's API for unknown credentials, and for those without the permission that a call needs. */
const REFUSED_CREDENTIALS = [9_103, 9_106, 9_109, 10_000, 10_001, 10_023];

/** Codes of the API for a path that leads nowhere, such as one of an unknown account. */
export const NO_ROUTE = [7_000, 7_003];
const ACCOUNT_ID = /^[0-9a-f]{32}$/i;
const OTHER_ACCOUNT_ID = /^[\w-]+$/;
const LISTED = '"npx wrangler whoami" lists those of the login.';

/** An account, with the file or the variable that names it. */
export interface NamedAccount {
  readonly id: string;
  readonly place: string;
}

/**
 * Returns the account that all configurations and the environment name, to which everything is deployed; `null` where
 * none names one.
 *
 * @param variable `CLOUDFLARE_ACCOUNT_ID`.
 * @throws CliError where they name different accounts, or something that is no id of an account.
 */
export function accountOf(
  { workers, broker }: Project,
  variable: PlacedVariable | undefined,
): NamedAccount | null {
  const named = [
    ...workers.map(({ file, wrangler }) => ({ place: file, id: wrangler.account_id })),
    { place: broker.file ?? "the broker", id: broker.wrangler?.account_id },
    { place: variable?.place ?? "", id: variable?.value },
  ].flatMap(({ place, id }) => (id ? [{ place, id }] : []));
  for (const account of named) checkAccount(account);
  if (new Set(named.map(({ id }) => id)).size <= 1) return named[0] ?? null;
  const lines = named.map(({ place, id }) => `  ${id}  ${place}`);
  throw new CliError(
    `These name different accounts of Cloudflare, and Workers reach a broker of their own account alone:\n${lines.join("\n")}`,
  );
}

/**
 * @param isCloudflares false for an account of another server that speaks Cloudflare's API: Wrangler takes any word.
 * @throws CliError for something that is no id of an account.
 */
export function checkAccount({ id, place }: NamedAccount, isCloudflares = true): void {
  if ((isCloudflares ? ACCOUNT_ID : OTHER_ACCOUNT_ID).test(id)) return;
  if (!isCloudflares)
    throw new CliError(
      `${place} names the account "${id}". An account has a name of letters, digits, "-" and "_".`,
    );
  throw new CliError(
    `${place} names the account "${id}", and the id of an account of Cloudflare has 32 hexadecimal digits. ${LISTED}`,
  );
}

/** Credentials, with the place that they come from. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  /** The place, in words, such as `"npx wrangler login"`. */
  readonly source: string;
}

/** Whether Cloudflare refused the credentials: by the code of its API, or by the status where there is no code. */
export function refusesCredentials(code: number | undefined, status: number): boolean {
  return code === undefined ? status === 401 || status === 403 : REFUSED_CREDENTIALS.includes(code);
}

/** Explains credentials that Cloudflare has refused: their source, the account, the permissions that they need. */
function credentialsHint({ source }: Pick<Credentials, "source">, account: NamedAccount | null): string {
  return [
    `The credentials are those of ${source}. ${accountText(account)}`,
    "A token needs, for that account: Workers Scripts: Edit, Account Settings: Read; and for routes and domains, of their",
    'zones: Workers Routes: Edit. The template "Edit Cloudflare Workers" has all of them:',
    "  https://dash.cloudflare.com/profile/api-tokens",
    "CLOUDFLARE_ACCOUNT_ID, or account_id in the configurations, names the account.",
  ].join("\n");
}

function accountText(account: NamedAccount | null): string {
  return account === null
    ? "No account is named."
    : `The account is ${account.id}, which ${account.place} names. ${LISTED}`;
}

/**
 * Explains a refusal of Cloudflare on a line of its own: the source of the credentials, and the account. Empty for a
 * refusal that concerns neither.
 *
 * @param code of Cloudflare's API; `undefined` where there is none.
 */
export function refusalHint(
  { code, status }: { readonly code: number | undefined; readonly status: number },
  credentials: Pick<Credentials, "source">,
  account: NamedAccount | null,
): string {
  if (refusesCredentials(code, status)) return `\n${credentialsHint(credentials, account)}`;
  const isUnknownAccount = code !== undefined && NO_ROUTE.includes(code) && account !== null;
  return isUnknownAccount ? `\n${accountText(account)}` : "";
}

/** Returns the hint where Wrangler's output says that credentials or the account were refused, else an empty text. */
export function hintFor(output: string, credentials: Credentials, account: NamedAccount | null): string {
  const codes = [...output.matchAll(/\[code: (\d+)\]/g)].map(([, code]) => Number(code));
  return codes.map((code) => refusalHint({ code, status: 0 }, credentials, account)).find(Boolean) ?? "";
}
