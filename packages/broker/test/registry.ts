import type { QueueDefinition } from "@sluice/protocol";
import { Registry } from "../src/directory/registry.ts";
import type { DirectoryRow } from "../src/directory/row.ts";

/** When a test's directory begins, in ms. */
export const REGISTRY_START_MS = 1_700_000_000_000;

/** A registry whose rows are kept in memory, on a clock of its own; ids are counted. */
export class TestRegistry extends Registry {
  readonly rows: Map<string, DirectoryRow>;
  readonly time: { nowMs: number };

  constructor(
    rows = new Map<string, DirectoryRow>(),
    time = { nowMs: REGISTRY_START_MS },
    hasJurisdictions = false,
    configured: Readonly<Record<string, QueueDefinition>> = {},
  ) {
    let ids = rows.size * 100;
    super(rows.values(), {
      save: (row) => void rows.set(row.kind === "queue" ? row.record.name : row.name, structuredClone(row)),
      erase: (name) => void rows.delete(name),
      now: () => time.nowMs,
      hasJurisdictions,
      configured,
      newId: () => String(++ids).padStart(32, "0"),
    });
    this.rows = rows;
    this.time = time;
  }

  /** The same after a restart. */
  restarted(configured: Readonly<Record<string, QueueDefinition>> = {}): TestRegistry {
    return new TestRegistry(this.rows, this.time, false, configured);
  }
}
