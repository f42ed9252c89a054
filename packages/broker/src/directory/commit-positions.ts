import { type CommitPosition, furthest, isBehind, NO_COMMITS } from "../rpc/commit-position.ts";
import { checksumOfText } from "../store/checksum.ts";

type PositionRow = {
  epoch: number;
  commits: number;
  messages: number;
  rest: string | null;
  checksum: number;
};

/** A contract: this table is stored. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS marks (
  queue TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL,
  rest TEXT
) WITHOUT ROWID`;

/**
 * How far each queue has come, and what it is if it is idle there. A queue whose database file has lost its end cannot
 * know that it had one; what it told the directory lies in another file and tells it.
 */
export class CommitPositions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
    const [table] = sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'marks'").toArray();
    if (!table?.sql.includes("rest TEXT")) sql.exec("ALTER TABLE marks ADD COLUMN rest TEXT");
  }

  /** A damaged row says nothing: believing it would report a loss that there was not, or hide one. */
  read(queue: string): CommitPosition | null {
    const row = this.#row(queue);
    if (row === null) return null;
    const { epoch, commits, messages } = row;
    return { epoch, commits, messages };
  }

  /** Whether the queue was idle by its latest report. */
  isIdle(queue: string): boolean {
    return (this.#row(queue)?.rest ?? null) !== null;
  }

  /** Lists the snapshots of queues that were idle by their latest report. Damaged rows are left out. */
  snapshots(): string[] {
    return this.#sql
      .exec<PositionRow & { queue: string }>("SELECT * FROM marks WHERE rest IS NOT NULL")
      .toArray()
      .filter((row) => row.checksum === checksumOf(row.queue, row))
      .map(({ rest }) => rest ?? "");
  }

  /**
   * Notes a report, and answers with what was known before. It can be late: no number gets smaller, and the
   * snapshot that is kept is that of the latest commit.
   */
  raise(queue: string, position: CommitPosition, snapshot: string | null): CommitPosition | null {
    const row = this.#row(queue);
    const known = row ?? { ...NO_COMMITS, rest: null };
    const raised = { ...furthest(known, position), rest: isBehind(position, known) ? known.rest : snapshot };
    const { epoch, commits, messages } = raised;
    this.#sql.exec(
      "INSERT OR REPLACE INTO marks (queue, epoch, commits, messages, checksum, rest) VALUES (?, ?, ?, ?, ?, ?)",
      ...[queue, epoch, commits, messages, checksumOf(queue, raised), raised.rest],
    );
    return row === null ? null : { epoch: row.epoch, commits: row.commits, messages: row.messages };
  }

  #row(queue: string): PositionRow | null {
    const [row] = this.#sql
      .exec<PositionRow>("SELECT epoch, commits, messages, rest, checksum FROM marks WHERE queue = ?", queue)
      .toArray();
    if (row === undefined) return null;
    if (row.checksum === checksumOf(queue, row)) return row;
    console.error(
      `Directory: what queue "${queue}" had reported is damaged; a loss before now cannot be told`,
    );
    return null;
  }
}

function checksumOf(
  queue: string,
  { epoch, commits, messages, rest }: Omit<PositionRow, "checksum">,
): number {
  return checksumOfText(`${queue} ${epoch} ${commits} ${messages}${rest === null ? "" : ` ${rest}`}`);
}
