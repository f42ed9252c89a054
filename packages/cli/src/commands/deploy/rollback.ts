import { CliError } from "../../errors.ts";
import type { Printer } from "../../report/printer.ts";
import type { Surroundings } from "../../surroundings.ts";
import { type DeploymentOptions, openDeployment } from "./deployment.ts";
import { deploymentOf } from "./messages.ts";

/** What a Worker went through: its deployed versions, the newest last, each with the deployment that it is of. */
export interface Past {
  readonly name: string;
  readonly versions: readonly {
    readonly id: string;
    readonly run: string | null;
    /** What it is made of. */
    readonly tag: string | null;
    /** When it was uploaded, as ISO 8601. */
    readonly createdOn: string;
  }[];
}

/** A Worker, and the version that it goes back to; `null` where there was none before. */
export interface Return {
  readonly name: string;
  readonly to: string | null;
}

/**
 * `sluice rollback`: leads each Worker that the last deployment touched back to the version that it had before, the
 * Workers first and the broker last. Messages and all other data stay.
 */
export async function rollback(
  options: DeploymentOptions,
  printer: Printer,
  surroundings: Pick<Surroundings, "cwd" | "env">,
): Promise<number> {
  const { parts, wrangler, api: openApi } = await openDeployment(options, printer, surroundings);
  const api = await openApi();
  const pasts: Past[] = [];
  for (const { name } of parts) {
    const ids = await api.deployed(name);
    if (ids === null) continue;
    const known = new Map((await api.versions(name)).map((version) => [version.id, version]));
    // What is too old to be listed is no part of the last deployment.
    const versions = ids.map((id) => {
      const { message = null, tag = null, createdOn = "" } = known.get(id) ?? {};
      return { id, run: deploymentOf(message), tag, createdOn };
    });
    pasts.push({ name, versions });
  }
  const returns = returnsOf(pasts);
  if (returns.every(({ to }) => to === null)) {
    throw new CliError(
      'There is nothing to go back to: no deployment by "sluice deploy" came before this one.',
    );
  }
  for (const { name, to } of returns) {
    if (to === null) {
      printer.print(`${name}  stays: it is new`);
      continue;
    }
    const { code, all } = await wrangler([
      "rollback",
      to,
      "--name",
      name,
      "--yes",
      "--message",
      "sluice rollback",
    ]);
    if (code !== 0) {
      throw new CliError(
        `"${name}" does not go back. Run the same command again to go on. Wrangler says:\n${all}`,
      );
    }
    printer.print(`${name}  back to ${to}`);
  }
  return 0;
}

/**
 * Where each Worker goes back to. The deployment that ends is the one whose versions are the newest of those that get
 * requests. Workers that it did not touch stay, and so do those that it has made of the same: a broker that got its
 * secrets anew would get the earlier ones back.
 */
export function returnsOf(pasts: readonly Past[]): Return[] {
  const live = pasts.flatMap(({ versions }) => versions.at(-1) ?? []);
  const [newest] = live
    .filter(({ run }) => run !== null)
    .sort((a, b) => b.createdOn.localeCompare(a.createdOn));
  if (newest === undefined) return [];
  return pasts.flatMap(({ name, versions }) => {
    if (versions.at(-1)?.run !== newest.run) return [];
    const first = versions.findIndex(({ run }) => run === newest.run);
    const before = versions[first - 1];
    if (before !== undefined && before.tag !== null && before.tag === versions.at(-1)?.tag) return [];
    return { name, to: before?.id ?? null };
  });
}
