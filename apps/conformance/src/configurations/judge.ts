import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readWorkerConfig } from "@sluice/config";
import { unstable_readConfig } from "wrangler";
import { type ConfigurationRow, type Verdict, YES } from "../scenario/row.ts";

/** What reads configurations. Each throws for one that it refuses. */
const READERS = {
  sluice: (file: string) => readWorkerConfig(file, {}),
  miniflare: (file: string) => unstable_readConfig({ config: file }, { hideWarnings: true }),
};

export interface ConfigurationVerdicts {
  readonly sluice: Verdict;
  readonly miniflare: Verdict;
}

/** Lets Sluice and Wrangler read the configurations of a row. */
export async function judgeConfigurations({ cases }: ConfigurationRow): Promise<ConfigurationVerdicts> {
  const folder = await mkdtemp(path.join(tmpdir(), "conformance-config-"));
  const file = path.join(folder, "wrangler.json");
  const differing: Record<keyof typeof READERS, string[]> = { sluice: [], miniflare: [] };
  try {
    for (const [label, configuration, expected] of cases) {
      await writeFile(file, JSON.stringify({ name: "worker", ...configuration }));
      for (const reader of ["sluice", "miniflare"] as const) {
        const judged = isAccepted(reader, file) ? "accepted" : "refused";
        if (judged !== expected) differing[reader].push(`${label}: ${judged}`);
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return { sluice: verdict(differing.sluice), miniflare: verdict(differing.miniflare) };
}

function isAccepted(reader: keyof typeof READERS, file: string): boolean {
  try {
    READERS[reader](file);
    return true;
  } catch {
    return false;
  }
}

function verdict(differing: readonly string[]): Verdict {
  return differing.length === 0 ? YES : { kind: "differs", observed: differing.join("; ") };
}
