import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { makeFolder } from "@sluice/project/folders";
import { SECRET_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import { LAST_END_VARIABLE } from "@sluice/project/names";
import type { Project } from "@sluice/project/read/project";
import { endpointVariables } from "@sluice/protocol";
import type { CloudflareApi } from "./cloudflare-api.ts";

/** How the commands of this machine reach a deployed broker. */
export interface BrokerAccess {
  readonly SLUICE_URL?: string;
  readonly SLUICE_API_TOKEN?: string;
  /** Id of the account. A file of an earlier release does not say it. */
  readonly SLUICE_ACCOUNT?: string;
}

/**
 * The file with the address and the token of a deployed broker: `NAME.env`, and `NAME.ACCOUNT.env` for an account whose
 * broker of that name is deployed from the same folder after that of another account.
 */
export async function accessFile(
  outputFolder: string,
  broker: string,
  api: Pick<CloudflareApi, "account" | "subdomain">,
): Promise<string> {
  const file = join(outputFolder, "deployed", `${broker}.env`);
  const own = join(outputFolder, "deployed", `${broker}.${await api.account()}.env`);
  return existsSync(own) || (await isOfAnother(readAccess(file), api)) ? own : file;
}

async function isOfAnother(
  { SLUICE_ACCOUNT: account, SLUICE_URL: url = "" }: BrokerAccess,
  api: Pick<CloudflareApi, "account" | "subdomain">,
): Promise<boolean> {
  if (account !== undefined) return account !== (await api.account());
  // A file of an earlier release. An account has one name below workers.dev.
  const name = /^https:\/\/[^.]+\.([^.]+)\.workers\.dev$/.exec(url)?.[1];
  return name !== undefined && name !== (await api.subdomain());
}

/** Reads the file; empty where there is none. */
export function readAccess(file: string): BrokerAccess {
  try {
    return parseEnv(readFileSync(file, "utf8")) as BrokerAccess;
  } catch {
    return {};
  }
}

/**
 * The address among those that Wrangler tells of a Worker: below workers.dev, else of a domain of its own; `null` for
 * routes alone, which do not say whether `/__sluice` is among them.
 */
export function addressAmong(targets: readonly string[]): string | null {
  const url = targets.find((target) => target.startsWith("https://"));
  if (url !== undefined) return url;
  const domain = targets.map((target) => /^(\S+) \(custom domain/.exec(target)?.[1]).find(Boolean);
  return domain === undefined ? null : `https://${domain}`;
}

/**
 * Writes what has changed into the file, which only its owner can read.
 *
 * @param changes what they set to `undefined` is taken out.
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
  // One that was there keeps its mode otherwise.
  chmodSync(file, 0o600);
}

/** Secrets of a broker that the environment sets. */
export function secretsSet(
  { topology }: Pick<Project, "topology">,
  env: NodeJS.ProcessEnv,
): Record<string, string> {
  const settings = SECRET_SETTINGS.filter((name) => name !== LAST_END_VARIABLE);
  return setVariables([...settings, ...endpointVariables(topology)], env);
}

/**
 * Secrets that a broker is uploaded with: those that are set. A broker that is new and for which nothing is set gets a
 * token of its own, which is kept in the file first: a deployment that fails behind it goes on with it.
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
