import { checksumOfText } from "../checksum.ts";
import { furthest, isBehind, type Mark, NO_MARK } from "../mark.ts";

type MarkRow = { epoch: number; commits: number; messages: number; rest: string | null; checksum: number };

/** A contract: this table is stored. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS marks (
  queue TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL,
  rest TEXT
) WITHOUT ROWID`;

/**
 * How far each queue has come, and what it is if it has come to rest there. A queue whose database file has lost its end cannot
 * know that it had one; what it told the directory lies in another file and tells it.
 */
export class Marks {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
    const [table] = sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'marks'").toArray();
    if (!table?.sql.includes("rest TEXT")) sql.exec("ALTER TABLE marks ADD COLUMN rest TEXT");
  }

  /** A damaged row says nothing: believing it would report a loss that there was not, or hide one. */
  read(queue: string): Mark | null {
    const row = this.#row(queue);
    if (row === null) return null;
    const { epoch, commits, messages } = row;
    return { epoch, commits, messages };
  }

  /** Whether the queue was at rest by its latest report. */
  isAtRest(queue: string): boolean {
    return (this.#row(queue)?.rest ?? null) !== null;
  }

  /** What is known of the queues that were at rest by their latest report. Damaged rows are left out. */
  rests(): string[] {
    return this.#sql
      .exec<MarkRow & { queue: string }>("SELECT * FROM marks WHERE rest IS NOT NULL")
      .toArray()
      .filter((row) => row.checksum === checksumOf(row.queue, row))
      .map(({ rest }) => rest ?? "");
  }

  /**
   * Notes a report, and answers with what was known before. It can be late: no number gets smaller, and what is known of its
   * rest is that of the latest commit.
   */
  raise(queue: string, mark: Mark, rest: string | null): Mark | null {
    const row = this.#row(queue);
    const known = row ?? { ...NO_MARK, rest: null };
    const raised = { ...furthest(known, mark), rest: isBehind(mark, known) ? known.rest : rest };
    const { epoch, commits, messages } = raised;
    this.#sql.exec(
      "INSERT OR REPLACE INTO marks (queue, epoch, commits, messages, checksum, rest) VALUES (?, ?, ?, ?, ?, ?)",
      ...[queue, epoch, commits, messages, checksumOf(queue, raised), raised.rest],
    );
    return row === null ? null : { epoch: row.epoch, commits: row.commits, messages: row.messages };
  }

  #row(queue: string): MarkRow | null {
    const [row] = this.#sql
      .exec<MarkRow>("SELECT epoch, commits, messages, rest, checksum FROM marks WHERE queue = ?", queue)
      .toArray();
    if (row === undefined) return null;
    if (row.checksum === checksumOf(queue, row)) return row;
    console.error(
      `Directory: what queue "${queue}" had reported is damaged; a loss before now cannot be told`,
    );
    return null;
  }
}

function checksumOf(queue: string, { epoch, commits, messages, rest }: Omit<MarkRow, "checksum">): number {
  return checksumOfText(`${queue} ${epoch} ${commits} ${messages}${rest === null ? "" : ` ${rest}`}`);
}
