import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import { type DirectoryRow, nameOf } from "../row.ts";
import { JsonRows } from "./json-rows.ts";

/**
 * Rows of queues in the directory's database. A row that is damaged or cannot be read is restored from the
 * configuration or the queue's own copy.
 */
export class DirectoryRows extends JsonRows<DirectoryRow> {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    super(sql, "queues", "name TEXT", "queue", UNREADABLE_ROWS.queue);
    this.#sql = sql;
    // A contract: stored data depends on this table.
    sql.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID");
  }

  save(row: DirectoryRow): void {
    this.put(nameOf(row), row);
  }

  /** Fingerprint of the topology that was applied last, `null` before the first one. */
  get deployed(): string | null {
    const [row] = this.#sql
      .exec<{ value: string }>("SELECT value FROM meta WHERE key = 'deployed'")
      .toArray();
    return row?.value ?? null;
  }

  set deployed(fingerprint: string) {
    this.#sql.exec("INSERT OR REPLACE INTO meta VALUES ('deployed', ?)", fingerprint);
  }
}
