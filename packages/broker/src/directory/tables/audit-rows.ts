import { AUDIT_ENTRIES_MAX, type AuditEntry, type AuditRecord } from "@sluice/protocol";
import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import { readRow } from "./json-rows.ts";

/** Schema of the stored log. A contract: columns keep their meaning. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, entry TEXT NOT NULL)";

/** Ids of the stored entries. */
interface Kept {
  /** Ids by actor, in ascending order; no list is empty. */
  readonly idsOf: Map<string, number[]>;
  count: number;
  last: number;
}

/**
 * Log of changes with their actors. When it is full, the actor with the most entries loses its oldest one, so each of n
 * actors keeps its newest `AUDIT_ENTRIES_MAX / n` entries, whatever the others do.
 */
export class AuditRows {
  readonly #sql: SqlStorage;
  readonly #now: () => number;
  readonly #max: number;
  /** Ids, read at the first change and kept up to date, so that counting actors reads no rows. */
  #kept: Kept | undefined;

  constructor(sql: SqlStorage, now: () => number, max = AUDIT_ENTRIES_MAX) {
    this.#sql = sql;
    this.#now = now;
    this.#max = max;
    sql.exec(SCHEMA);
  }

  note({ action, target, by, dialect }: AuditEntry): void {
    this.#kept ??= this.#readKept();
    const kept = this.#kept;
    const id = kept.last + 1;
    const text = JSON.stringify({ action, target, by, dialect });
    this.#sql.exec("INSERT INTO audit VALUES (?, ?, ?)", id, this.#now(), text);
    add(kept, by, id);
    while (kept.count > this.#max) this.#dropOne(kept);
  }

  /** Lists readable entries, newest first. */
  read(max: number, before: number | null): AuditRecord[] {
    const rows = this.#sql
      .exec<{ id: number; at_ms: number; entry: string }>(
        "SELECT id, at_ms, entry FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
        ...[before ?? Number.MAX_SAFE_INTEGER, max],
      )
      .toArray();
    const records = rows.flatMap(({ id, at_ms, entry }) => {
      const found = readRow<AuditEntry>(entry, UNREADABLE_ROWS.auditEntry);
      return found.kind === "row" ? [{ id, atMs: at_ms, ...found.row }] : [];
    });
    const last = rows.length === max ? rows.at(-1) : undefined;
    if (last === undefined || records.length === max) return records;
    // A short page would mean that there are no older entries.
    return [...records, ...this.read(max - records.length, last.id)];
  }

  #readKept(): Kept {
    const rows = this.#sql.exec<{ id: number; actor: string | null }>(
      "SELECT id, CASE WHEN json_valid(entry) THEN json_extract(entry, '$.by') END AS actor FROM audit ORDER BY id",
    );
    const kept: Kept = { idsOf: new Map(), count: 0, last: 0 };
    for (const { id, actor } of rows) add(kept, actor ?? "", id);
    return kept;
  }

  /** Deletes the oldest entry of the actor with the most entries; among equals, of the one with the oldest entry. */
  #dropOne(kept: Kept): void {
    const [[by, ids] = ["", []]] = [...kept.idsOf].sort(
      ([, a], [, b]) => b.length - a.length || (a[0] ?? 0) - (b[0] ?? 0),
    );
    const [oldest = 0] = ids;
    this.#sql.exec("DELETE FROM audit WHERE id = ?", oldest);
    ids.shift();
    if (ids.length === 0) kept.idsOf.delete(by);
    kept.count -= 1;
  }
}

function add(kept: Kept, by: string, id: number): void {
  const ids = kept.idsOf.get(by);
  if (ids === undefined) kept.idsOf.set(by, [id]);
  else ids.push(id);
  kept.count += 1;
  kept.last = id;
}
