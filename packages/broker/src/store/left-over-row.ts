import type { QueueUsage } from "@sluice/protocol";
import { IS_LIVE, type Mark, markText, WRITE_MARK } from "./mark.ts";
import type { Run } from "./migrations.ts";

/** Facts that a queue notes with its mark when its last message leaves. */
export interface MarkFacts {
  /** Messages that it has ever taken in. */
  readonly messages: number;
  readonly usage: QueueUsage;
}

/**
 * Row of the last segment of a queue that is empty. The commit that empties the queue does not delete the row. It
 * writes the mark instead, by which the row counts as gone. So noting position and usage costs no further row.
 */
export class LeftOverRow {
  readonly #run: Run;
  #id: number | null;
  #lastLeftAt: number;
  #facts: (() => MarkFacts) | null = null;

  constructor(run: Run, mark: Mark) {
    this.#run = run;
    this.#lastLeftAt = mark[4] ?? 0;
    const [left] = run<{ id: number }>(`SELECT id FROM segments WHERE NOT (${IS_LIVE}) LIMIT 1`);
    this.#id = left?.id ?? null;
  }

  /** Number of the latest commit that emptied the queue and left the row over, 0 if there was none. */
  get lastLeftAt(): number {
    return this.#lastLeftAt;
  }

  /** Whether rows are left over, since there is something to note with them. */
  get isOn(): boolean {
    return this.#facts !== null;
  }

  /** Leaves rows over from now on. @param facts returns the facts to note. */
  turnOn(facts: () => MarkFacts): void {
    this.#facts = facts;
  }

  /** Gives the row away to a new segment. @returns its id; `null` if there is none. */
  take(): number | null {
    const id = this.#id;
    this.#id = null;
    return id;
  }

  /** Whether no row of a segment has messages. */
  isEmpty(): boolean {
    return this.#run(`SELECT id FROM segments WHERE ${IS_LIVE} LIMIT 1`).length === 0;
  }

  /** Leaves the row of the last segment over, within its commit. */
  leave(id: number, { commits, epoch }: { readonly commits: number; readonly epoch: number }): void {
    const facts = this.#facts?.();
    if (facts === undefined || this.#hasOthers(id)) {
      // Rows that could not be read stay in the table, and would count as gone by the mark.
      this.#run("DELETE FROM segments WHERE id = ?", id);
      this.#run("INSERT OR REPLACE INTO meta VALUES ('epoch', ?)", epoch);
      return;
    }
    const { messages, usage } = facts;
    this.#id = id;
    this.#lastLeftAt = commits;
    // The row that is written here counts as well.
    const used = { ...usage, rowsWritten: usage.rowsWritten + 1 };
    this.#run(WRITE_MARK, markText({ commits, messages, usage: used, epoch, lastLeftAt: commits }));
  }

  #hasOthers(id: number): boolean {
    return this.#run("SELECT id FROM segments WHERE id <> ? LIMIT 1", id).length > 0;
  }
}
