import { type CommitPosition, furthest, isBehind, NO_COMMITS } from "../../rpc/commit-position.ts";
import { checksumOfText } from "../../store/checksum.ts";

type PositionRow = {
  epoch: number;
  commits: number;
  messages: number;
  rest: string | null;
  checksum: number;
};

/** Schema of the stored positions. A contract: columns keep their meaning. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS marks (
  queue TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL,
  rest TEXT
) WITHOUT ROWID`;

/**
 * Positions of queues by their reports, with the snapshots of idle ones. They lie in another file than the queues, so a
 * queue whose file has lost its end can detect that by its report.
 */
export class CommitPositions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
    const [table] = sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'marks'").toArray();
    if (!table?.sql.includes("rest TEXT")) sql.exec("ALTER TABLE marks ADD COLUMN rest TEXT");
  }

  /** Reads the position of a queue; `null` for none, or a damaged one, which could report a false loss or hide one. */
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
  snapshots(): { readonly queue: string; readonly text: string }[] {
    return this.#sql
      .exec<PositionRow & { queue: string }>("SELECT * FROM marks WHERE rest IS NOT NULL")
      .toArray()
      .filter((row) => row.checksum === checksumOf(row.queue, row))
      .map(({ queue, rest }) => ({ queue, text: rest ?? "" }));
  }

  /**
   * Stores a report. It can be late, so no number gets smaller, and the snapshot of the latest commit stays.
   *
   * @returns the position known before it.
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
      `Directory: the reported position of queue "${queue}" is damaged; an earlier loss cannot be detected`,
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
