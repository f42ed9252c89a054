import { NAME_KEPT_MS } from "@sluice/protocol";

/** Schema of the stored deletions. A contract: columns keep their meaning. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS deletions (name TEXT PRIMARY KEY, at_ms INTEGER NOT NULL) WITHOUT ROWID";

/** Names of queues that were deleted lately, which a dialect may keep from being used again so soon. */
export class Deletions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  /** Notes a deletion, and forgets those older than `NAME_KEPT_MS`. */
  note(name: string, nowMs: number): void {
    this.#sql.exec("DELETE FROM deletions WHERE at_ms <= ?", nowMs - NAME_KEPT_MS);
    this.#sql.exec("INSERT OR REPLACE INTO deletions VALUES (?, ?)", name, nowMs);
  }

  /** Returns the time in ms of the last deletion of a name; `null` if that is `NAME_KEPT_MS` ago or more. */
  last(name: string, nowMs: number): number | null {
    const [row] = this.#sql
      .exec<{ at_ms: number }>("SELECT at_ms FROM deletions WHERE name = ?", name)
      .toArray();
    return row === undefined || row.at_ms <= nowMs - NAME_KEPT_MS ? null : row.at_ms;
  }
}
