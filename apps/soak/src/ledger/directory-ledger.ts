import type { DirectoryRow } from "@sluice/broker/testing";

/** A row of the directory that has become durable, `null` for one that is gone. */
export interface RegisteredRow {
  readonly before: DirectoryRow | null;
  readonly after: DirectoryRow | null;
  /** Whether the row is of a queue that was deleted before. */
  readonly wasDeleted: boolean;
}

/** Promises of the directory about each queue, drawn from its durable rows. */
export class DirectoryLedger {
  readonly rows = new Map<string, DirectoryRow>();
  /** Ids of queues that were deleted. */
  readonly #deletedIds = new Set<string>();
  /** Revisions of deletions by queue name. */
  readonly #deletions = new Map<string, number[]>();
  /** Latest revision that the queue's object has confirmed, by queue name. */
  readonly #confirmed = new Map<string, number>();

  /**
   * Enters a row that has become durable, `null` for one that is gone. Returns whether the row is of a queue that was
   * deleted before.
   */
  enter(name: string, row: DirectoryRow | null): boolean {
    const before = this.rows.get(name);
    if (row === null) this.rows.delete(name);
    else this.rows.set(name, row);
    if (before?.kind === "queue" && (row?.kind !== "queue" || row.record.queueId !== before.record.queueId)) {
      this.#deletedIds.add(before.record.queueId);
    }
    if (row?.kind === "deleted")
      this.#deletions.set(name, [...(this.#deletions.get(name) ?? []), row.revision]);
    if (row?.kind === "deleted" && row.isEmptied === true) this.#confirm(name, row.revision);
    if (row?.kind !== "queue") return false;
    this.#confirm(name, row.told);
    return this.#deletedIds.has(row.record.queueId);
  }

  /** The latest revision of a queue, or of its deletion, that its object has confirmed; 0 if there is none. */
  confirmed(name: string): number {
    return this.#confirmed.get(name) ?? 0;
  }

  /** Whether the queue that had a record of this revision was deleted. */
  wasDeletedAfter(name: string, revision: number): boolean {
    return this.#deletions.get(name)?.some((deleted) => deleted >= revision) === true;
  }

  /** Whether a queue of that name was ever missing. */
  wasEverMissing(name: string): boolean {
    return this.#deletions.has(name) || !this.rows.has(name);
  }

  get isEverybodyTold(): boolean {
    return [...this.rows.keys()].every((name) => this.isTold(name));
  }

  /** Whether the object of a queue has confirmed its latest record, or its deletion. */
  isTold(name: string): boolean {
    const row = this.rows.get(name);
    if (row?.kind === "queue") return row.told >= row.record.revision;
    return row === undefined || row.isEmptied === true;
  }

  #confirm(name: string, revision: number): void {
    this.#confirmed.set(name, Math.max(this.confirmed(name), revision));
  }
}
