import { checksumOfText } from "../checksum.ts";
import { furthest, type Mark, NO_MARK } from "../mark.ts";

type MarkRow = { epoch: number; commits: number; messages: number; checksum: number };

/** A contract: this table is stored. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS marks (
  queue TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID`;

/**
 * How far each queue has come. A queue whose database file has lost its end cannot know that it had one; what it told the
 * directory lies in another file and tells it.
 */
export class Marks {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  /** A damaged row says nothing: believing it would report a loss that there was not, or hide one. */
  read(queue: string): Mark | null {
    const [row] = this.#sql
      .exec<MarkRow>("SELECT epoch, commits, messages, checksum FROM marks WHERE queue = ?", queue)
      .toArray();
    if (row === undefined) return null;
    const { checksum, ...mark } = row;
    if (checksum === checksumOfMark(queue, mark)) return mark;
    console.error(
      `Directory: what queue "${queue}" had reported is damaged; a loss before now cannot be told`,
    );
    return null;
  }

  /** Notes a report, and answers with what was known before. It can be late: no number gets smaller. */
  raise(queue: string, mark: Mark): Mark | null {
    const known = this.read(queue);
    const { epoch, commits, messages } = furthest(known ?? NO_MARK, mark);
    const checksum = checksumOfMark(queue, { epoch, commits, messages });
    this.#sql.exec(
      "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?)",
      ...[queue, epoch, commits, messages, checksum],
    );
    return known;
  }
}

function checksumOfMark(queue: string, { epoch, commits, messages }: Mark): number {
  return checksumOfText(`${queue} ${epoch} ${commits} ${messages}`);
}
