import { isReference, type RowHead, type Verdict, YES } from "../scenario/row.ts";
import { SCENARIOS } from "../scenarios/index.ts";
import { SYSTEMS, type SystemName } from "../systems/system.ts";
import { runScenarios } from "./run-scenarios.ts";

/** Verdicts of a row: one on each system. */
export type Measured = Readonly<Record<SystemName, Verdict>>;

/** Runs every scenario in every system. Resolves to the verdicts of `rows` by their ids, references included. */
export async function measure(rows: readonly RowHead[]): Promise<ReadonlyMap<string, Measured>> {
  const [sluice, miniflare] = await Promise.all([
    runScenarios(SYSTEMS.sluice, SCENARIOS),
    runScenarios(SYSTEMS.miniflare, SCENARIOS),
  ]);
  const measured = new Map<string, Measured>();
  for (const row of rows) {
    if (isReference(row)) {
      measured.set(row.id, { sluice: row.sluice ?? YES, miniflare: row.miniflare });
    } else {
      measured.set(row.id, { sluice: found(sluice, row.id), miniflare: found(miniflare, row.id) });
    }
  }
  return measured;
}

function found(verdicts: ReadonlyMap<string, Verdict>, id: string): Verdict {
  const verdict = verdicts.get(id);
  if (verdict === undefined) throw new Error(`${id} was not run`);
  return verdict;
}
