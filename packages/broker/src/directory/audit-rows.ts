import { AUDIT_ENTRIES_MAX, type AuditEntry, type AuditRecord } from "@sluice/protocol";

/** A contract: this table is stored. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, entry TEXT NOT NULL)";

/** What was changed by whom: the last `AUDIT_ENTRIES_MAX` entries. */
export class AuditRows {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(SCHEMA);
  }

  note({ action, target, by, dialect }: AuditEntry): void {
    const [{ last } = { last: 0 }] = this.#sql
      .exec<{ last: number }>("SELECT coalesce(max(id), 0) AS last FROM audit")
      .toArray();
    const text = JSON.stringify({ action, target, by, dialect });
    this.#sql.exec("INSERT INTO audit VALUES (?, ?, ?)", last + 1, this.#now(), text);
    this.#sql.exec("DELETE FROM audit WHERE id <= ?", last + 1 - AUDIT_ENTRIES_MAX);
  }

  /** Newest first. */
  read(max: number, before: number | null): AuditRecord[] {
    return this.#sql
      .exec<{ id: number; at_ms: number; entry: string }>(
        "SELECT id, at_ms, entry FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?",
        ...[before ?? Number.MAX_SAFE_INTEGER, max],
      )
      .toArray()
      .map(({ id, at_ms, entry }) => ({ id, atMs: at_ms, ...(JSON.parse(entry) as AuditEntry) }));
  }
}
