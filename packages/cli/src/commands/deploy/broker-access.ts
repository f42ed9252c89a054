import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { makeFolder } from "@sluice/project/folders";
import { PROCESS_VARIABLES, SECRET_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import type { Project } from "@sluice/project/read/project";
import { endpointVariables } from "@sluice/protocol";
import type { CloudflareApi } from "./cloudflare-api.ts";

/** File by which commands of this machine reach a deployed broker. A contract: other releases read it. */
interface BrokerAccess {
  readonly SLUICE_URL?: string;
  readonly SLUICE_API_TOKEN?: string;
  /** Id of the account. Files of earlier releases have none. */
  readonly SLUICE_ACCOUNT?: string;
}

/**
 * Finds the file with the address and the token of a deployed broker. It is `NAME.env`, or `NAME.ACCOUNT.env` where the
 * same folder had deployed a broker of that name to another account before.
 */
export async function accessFile(
  outputFolder: string,
  broker: string,
  api: Pick<CloudflareApi, "account" | "subdomain">,
): Promise<string> {
  const file = join(outputFolder, "deployed", `${broker}.env`);
  const own = join(outputFolder, "deployed", `${broker}.${await api.account()}.env`);
  return existsSync(own) || (await isOfAnotherAccount(readAccess(file), api)) ? own : file;
}

async function isOfAnotherAccount(
  { SLUICE_ACCOUNT: account, SLUICE_URL: url = "" }: BrokerAccess,
  api: Pick<CloudflareApi, "account" | "subdomain">,
): Promise<boolean> {
  if (account !== undefined) return account !== (await api.account());
  // A file of an earlier release names no account. Each account has one name below workers.dev, which the URL contains.
  const name = /^https:\/\/[^.]+\.([^.]+)\.workers\.dev$/.exec(url)?.[1];
  return name !== undefined && name !== (await api.subdomain());
}

/** Reads the file; returns an empty object where there is none. */
export function readAccess(file: string): BrokerAccess {
  try {
    return parseEnv(readFileSync(file, "utf8")) as BrokerAccess;
  } catch {
    return {};
  }
}

/**
 * Picks a broker's address from those that Wrangler prints: one below workers.dev, else a custom domain. `null` for
 * routes alone, which do not say whether they cover `/__sluice`.
 */
export function addressAmong(targets: readonly string[]): string | null {
  const url = targets.find((target) => target.startsWith("https://"));
  if (url !== undefined) return url;
  const domain = targets.map((target) => /^(\S+) \(custom domain/.exec(target)?.[1]).find(Boolean);
  return domain === undefined ? null : `https://${domain}`;
}

/**
 * Writes changes into the file, which only its owner can read.
 *
 * @param changes a variable set to `undefined` is removed.
 */
export function keepAccess(
  file: string,
  account: string,
  changes: { readonly [K in keyof BrokerAccess]: BrokerAccess[K] | undefined },
): void {
  const access = Object.entries({ ...readAccess(file), ...changes, SLUICE_ACCOUNT: account }).sort();
  const lines = access.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}\n`));
  makeFolder(dirname(file), 0o700);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
  // `mode` counts for a new file only.
  chmodSync(file, 0o600);
}

/** Picks the secrets of a broker that the environment sets. */
export function secretsSet(
  { topology }: Pick<Project, "topology">,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const settings = SECRET_SETTINGS.filter((name) => !PROCESS_VARIABLES.includes(name));
  return setVariables([...settings, ...endpointVariables(topology)], env);
}

/**
 * Returns the secrets that are set, for the upload of a broker. A new broker without any gets a token. It is written to
 * the file before the upload, so that the next run uses the same one if this run fails.
 */
export function brokerSecrets(
  set: Record<string, string>,
  { file, account, isNew }: { readonly file: string; readonly account: string; readonly isNew: boolean },
): Record<string, string> {
  if (!isNew || set.SLUICE_API_TOKENS !== undefined) return set;
  const { SLUICE_API_TOKEN: token = randomBytes(32).toString("base64url") } = readAccess(file);
  keepAccess(file, account, { SLUICE_API_TOKEN: token });
  return { ...set, SLUICE_API_TOKENS: token };
}
