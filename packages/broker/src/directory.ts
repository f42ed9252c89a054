import { DurableObject } from "cloudflare:workers";
import { checksumOf } from "./checksum.ts";
import { furthest, type Mark, NO_MARK } from "./mark.ts";

/** Name of the one directory of an account. */
export const DIRECTORY_NAME = "directory";

/** What a queue tells the directory, and asks it at its start. */
export interface MarkDirectory {
  /** How far the queue had come by its latest report, `null` if it never made one. */
  markOf(queue: string): Promise<Mark | null>;
  /** Takes a report, and answers with what was known before it. A report can be late: no number gets smaller. */
  report(queue: string, mark: Mark): Promise<Mark | null>;
}

/** The directory's Durable Object as its callers see it. */
export interface DirectoryObject extends MarkDirectory, Rpc.DurableObjectBranded {}

/** A contract: this table is stored. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS marks (
  queue TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID`;

type MarkRow = { epoch: number; commits: number; messages: number; checksum: number };

/**
 * What is known of all queues of an account outside of them: how far each has come. A queue whose database file has lost
 * its end cannot know that it had one; what it told the directory lies in another file and tells it.
 */
export class Directory extends DurableObject<unknown> implements DirectoryObject {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env);
    ctx.storage.sql.exec(SCHEMA);
  }

  async markOf(queue: string): Promise<Mark | null> {
    return this.#read(queue);
  }

  async report(queue: string, mark: Mark): Promise<Mark | null> {
    const known = this.#read(queue);
    const { epoch, commits, messages } = furthest(known ?? NO_MARK, mark);
    const checksum = checksumOfMark(queue, { epoch, commits, messages });
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?)",
      ...[queue, epoch, commits, messages, checksum],
    );
    return known;
  }

  /** A damaged row says nothing: believing it would report a loss that there was not, or hide one. */
  #read(queue: string): Mark | null {
    const { sql } = this.ctx.storage;
    const [row] = sql
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
}

function checksumOfMark(queue: string, { epoch, commits, messages }: Mark): number {
  const bytes = new TextEncoder().encode(`${queue} ${epoch} ${commits} ${messages}`);
  return checksumOf(new DataView(bytes.buffer), 0, bytes.byteLength);
}
