import type { PurgeRecord } from "@sluice/protocol";

/** Schema of the stored purges. A contract: columns keep their meaning. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS purges (
  queue_id TEXT PRIMARY KEY, started_ms INTEGER NOT NULL, completed_ms INTEGER
) WITHOUT ROWID`;

/** Latest purge of each queue, which the API shows afterwards. */
export class Purges {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  note(queueId: string, { startedMs, completedMs }: PurgeRecord): void {
    this.#sql.exec("INSERT OR REPLACE INTO purges VALUES (?, ?, ?)", queueId, startedMs, completedMs);
  }

  last(queueId: string): PurgeRecord | null {
    const [row] = this.#sql
      .exec<{ started_ms: number; completed_ms: number | null }>(
        "SELECT started_ms, completed_ms FROM purges WHERE queue_id = ?",
        queueId,
      )
      .toArray();
    return row === undefined ? null : { startedMs: row.started_ms, completedMs: row.completed_ms };
  }

  forget(queueId: string): void {
    this.#sql.exec("DELETE FROM purges WHERE queue_id = ?", queueId);
  }
}
