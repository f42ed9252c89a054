import type { NewTokenView, TokenView } from "@sluice/gateway/views";
import { table } from "@sluice/local/report/table";
import { distance } from "@sluice/local/report/words";
import { CliError, EXIT_NOT_FOUND } from "@sluice/project/errors";
import { answer, confirm, type OnBroker } from "../on-broker.ts";

/** Options for a new token. */
export interface CreateOptions {
  readonly scope: readonly string[];
  readonly queue?: readonly string[];
  /** Duration in ms. */
  readonly expires?: number;
  /** Whether it is an access key of AWS. */
  readonly aws?: boolean;
  /** Limit in requests a second. */
  readonly rate?: number;
}

/** `sluice tokens list`: lists the tokens. */
export async function listTokens(on: OnBroker): Promise<number> {
  const tokens = await allTokens(on);
  if (tokens.length === 0) answer(on, tokens, { words: NO_TOKENS });
  else answer(on, tokens, { text: table(COLUMNS, tokens.map(rowOf), on.printer) });
  return 0;
}

const COLUMNS = ["token", "access key", "scopes", "queues", "rate", "expires", "changed"];
const NO_TOKENS = 'The broker keeps no tokens yet. "sluice tokens create NAME --scope send" makes one.';

/** `sluice tokens create`: creates a token, and prints only its secret to standard output. */
export async function createToken(on: OnBroker, name: string, options: CreateOptions): Promise<number> {
  const { scope, queue, expires, rate, aws = false } = options;
  const body = {
    name,
    scopes: scope,
    ...(aws ? { aws } : {}),
    ...(queue === undefined ? {} : { queues: queue }),
    ...(expires === undefined ? {} : { expiresInSeconds: Math.ceil(expires / 1_000) }),
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
  };
  const made = await on.client.admin<NewTokenView>({ method: "POST", path: "/tokens", body });
  printSecret(on, made, `Created token ${name}: ${rightsOf(made.token)}. Its secret is shown this once:`);
  return 0;
}

/** `sluice tokens rotate`: gives a token a new secret. */
export async function rotateToken(on: OnBroker, name: string, graceMs: number | null): Promise<number> {
  const body = graceMs === null ? {} : { graceSeconds: Math.ceil(graceMs / 1_000) };
  const path = `${pathOf(name)}/rotate`;
  const made = await on.client.admin<NewTokenView>({ method: "POST", path, body });
  const { oldSecretUntil } = made.token;
  const old =
    oldSecretUntil === null ? "The old one ends now" : `The old one is valid until ${oldSecretUntil}`;
  printSecret(on, made, `Rotated token ${name}. ${old}. The new secret is shown this once:`);
  return 0;
}

/** `sluice tokens revoke`: ends a token. */
export async function revokeToken(on: OnBroker, name: string, force: boolean): Promise<number> {
  const token = (await allTokens(on)).find((one) => one.name === name);
  if (token === undefined) throw new CliError(`There is no token "${name}".`, EXIT_NOT_FOUND);
  await confirm(on, { name, what: `Ends token ${name}: ${rightsOf(token)}.`, force });
  const revoked = await on.client.admin({ method: "DELETE", path: pathOf(name) });
  answer(on, revoked, { words: `Revoked token ${name}.` });
  return 0;
}

async function allTokens({ client }: OnBroker): Promise<readonly TokenView[]> {
  return (await client.admin<{ tokens: TokenView[] }>({ path: "/tokens" })).tokens;
}

/** Prints a secret to standard output for a script, and the words to standard error. */
function printSecret(on: OnBroker, made: NewTokenView, words: string): void {
  if (!on.json) on.printer.warn(words);
  const { secret, token } = made;
  const key = `AWS_ACCESS_KEY_ID=${token.accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secret}`;
  answer(on, made, { text: token.accessKeyId === null ? secret : key });
}

function rowOf({
  name,
  accessKeyId,
  scopes,
  queues,
  ratePerSecond,
  expiresAt,
  changedAt,
}: TokenView): string[] {
  const now = new Date().toISOString();
  const isExpired = expiresAt !== null && expiresAt <= now;
  const ends = expiresAt === null ? "never" : isExpired ? "expired" : distance(expiresAt, now);
  const rate = ratePerSecond === null ? "-" : `${ratePerSecond}/s`;
  return [
    name,
    accessKeyId ?? "-",
    scopes.join(","),
    queues.join(",") || "all",
    rate,
    ends,
    distance(changedAt, now),
  ];
}

function rightsOf({ scopes, queues, ratePerSecond, expiresAt }: TokenView): string {
  const rate = ratePerSecond === null ? "" : `, ${ratePerSecond} requests a second`;
  const end = expiresAt === null ? "" : `, until ${expiresAt}`;
  return `${scopes.join(", ")} on ${queues.join(", ") || "all queues"}${rate}${end}`;
}

function pathOf(name: string): string {
  return `/tokens/${encodeURIComponent(name)}`;
}
