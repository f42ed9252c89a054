import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { endpointVariables } from "@sluice/protocol";
import { makeFolder } from "../../folders.ts";
import { SECRET_SETTINGS, setVariables } from "../../generate/broker-settings.ts";
import { LAST_END_VARIABLE } from "../../generate/names.ts";
import type { Project } from "../../project/project.ts";

/** How the commands of this machine reach a deployed broker. */
export interface BrokerAccess {
  readonly SLUICE_URL?: string;
  readonly SLUICE_API_TOKEN?: string;
}

/** The file with the address and the token of a deployed broker. */
export function accessFile(outputFolder: string, broker: string): string {
  return join(outputFolder, "deployed", `${broker}.env`);
}

/** What the file says; empty where there is none. */
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

/** Writes the file for its owner's eyes alone. */
export function writeAccess(file: string, access: BrokerAccess): void {
  const lines = Object.entries(access).map(([name, value]) => `${name}=${value}\n`);
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
  { file, isNew }: { readonly file: string; readonly isNew: boolean },
): Record<string, string> {
  if (!isNew || set.SLUICE_API_TOKENS !== undefined) return set;
  const known = readAccess(file);
  const token = known.SLUICE_API_TOKEN ?? randomBytes(32).toString("base64url");
  writeAccess(file, { ...known, SLUICE_API_TOKEN: token });
  return { ...set, SLUICE_API_TOKENS: token };
}
