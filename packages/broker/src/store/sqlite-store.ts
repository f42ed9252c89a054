import { epochOf } from "@sluice/engine";
import {
  type ClockSetting,
  isShard,
  type QueueDamage,
  type QueueRecord,
  type QueueUsage,
  REAL_TIME,
} from "@sluice/protocol";
import type { HostStorage } from "../platform/host.ts";
import type { CommitPosition } from "../rpc/commit-position.ts";
import { usageFrom } from "../usage/stored-usage.ts";
import { checksumOf } from "./checksum.ts";
import { LeftOverRow, type MarkFacts } from "./left-over-row.ts";
import { IS_LIVE, type Mark, markText } from "./mark.ts";
import { MetaTable } from "./meta-table.ts";
import { migrate, type Run } from "./migrations.ts";
import { checksumsOf, type SealedRow, verify, verifyOrNothing } from "./record-checksums.ts";
import { RECORD_KEY, recordCopy, recordFrom } from "./record-copy.ts";
import { SegmentChecksums } from "./segment-checksums.ts";
import {
  DamagedRowError,
  FINISHED_FIRST_SLOT,
  type JournalHead,
  type Note,
  type OutboxItem,
  type QueueStore,
  type StoredSegment,
} from "./store.ts";

const INSERT_SEGMENT = "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)";
const REPLACE_SEGMENT =
  "UPDATE segments SET commits = ?, idx = ?, state = coalesce(?, state), seal = ?, payload = ? WHERE id = ?";

/** Listener to commits. */
export interface CommitWatcher {
  /** A commit was made, which may not be durable yet. */
  committed(): void;
  /** All commits so far are durable. */
  durable(): void;
}

/** Queue in the SQLite database of its Durable Object. All SQL of a queue is in this folder. */
export class SqliteStore implements QueueStore {
  readonly #storage: HostStorage;
  readonly #watchers: readonly Partial<CommitWatcher>[];
  #commits: number;
  readonly #checksums = new SegmentChecksums();
  /** Statements of the commit in the making; `null` while there is none. */
  #collected: (() => void)[] | null = null;
  /** Ids of segments that the commit deletes. A new segment reuses the row of one. */
  #emptied: number[] = [];
  /** Whether the commit takes the last message out of the queue. */
  #isLast = false;
  #hasInserted = false;
  /** Number of this epoch if the commit is its first, until that is written. */
  #newEpoch: number | null = null;
  #epoch: number;
  readonly #meta: MetaTable;
  readonly #leftOver: LeftOverRow;
  rowsWritten = 0;
  rowsRead = 0;

  /** @param watchers notified of every commit; more may be added. */
  constructor(storage: HostStorage, watchers: readonly Partial<CommitWatcher>[] = []) {
    this.#storage = storage;
    this.#watchers = watchers;
    const run: Run = (sql, ...bindings) => this.#run(sql, ...bindings);
    migrate(storage, run);
    this.#meta = new MetaTable(run, (sql, ...bindings) => this.#execute(sql, ...bindings));
    this.#commits = this.readPosition().commits;
    this.#epoch = this.readEpoch();
    this.#leftOver = new LeftOverRow(run, this.#mark());
  }

  /**
   * Has the commit that takes the last message out of the queue note position and usage, in place of deleting the row
   * (`LeftOverRow`).
   */
  leaveRowsOver(facts: () => MarkFacts): void {
    this.#leftOver.turnOn(facts);
  }

  /** Number of commits over all epochs; within a commit its own number. */
  get commits(): number {
    return this.#commits;
  }

  commit(write: () => void): void {
    this.#commits += 1;
    const statements = this.#statementsOf(write);
    const [first] = statements;
    // A single statement, as most commits of a quiet queue have, needs no transaction, which costs two more.
    if (first !== undefined && statements.length === 1) first();
    else {
      this.#storage.transactionSync(() => {
        for (const statement of statements) statement();
      });
    }
    for (const watcher of this.#watchers) watcher.committed?.();
  }

  async synced(): Promise<void> {
    await this.#storage.sync();
    for (const watcher of this.#watchers) watcher.durable?.();
  }

  /** Reads the number of the latest epoch: it is in the ids of its segments, and in the mark when they are gone. */
  readEpoch(): number {
    const [row] = this.#run<{ id: number | null }>("SELECT max(id) AS id FROM segments");
    return Math.max(this.#meta.read<number>("epoch") ?? 0, epochOf(row?.id ?? 0), this.#mark()[3] ?? 0);
  }

  readName(): string | null {
    return this.#meta.read("name");
  }

  readVersion(): string | null {
    return this.#meta.read("version");
  }

  writeVersion(version: string): void {
    this.#meta.write("version", version);
  }

  readClock(): ClockSetting {
    return {
      offsetMs: this.#meta.read("clock_offset_ms") ?? REAL_TIME.offsetMs,
      frozenAtMs: this.#meta.read("clock_frozen_at_ms"),
    };
  }

  writeClock({ offsetMs, frozenAtMs }: ClockSetting): void {
    this.#meta.write("clock_offset_ms", offsetMs);
    this.#meta.write("clock_frozen_at_ms", frozenAtMs);
  }

  writeEpoch(epoch: number, name: string): void {
    this.#epoch = epoch;
    this.#newEpoch = epoch;
    if (this.readName() !== name) this.#meta.write("name", name);
  }

  raiseEpoch(epoch: number): void {
    this.#epoch = epoch;
    this.#meta.write("epoch", epoch);
  }

  *segments(): Iterable<StoredSegment> {
    const rows = this.#run<{ id: number; idx: ArrayBuffer; state: ArrayBuffer | null }>(
      `SELECT s.id, s.idx, coalesce(t.state, s.state) AS state
       FROM segments s LEFT JOIN segment_states t ON t.id = s.id WHERE s.${IS_LIVE} ORDER BY s.id`,
    );
    for (const { id, idx, state } of rows) {
      yield { id, index: new Uint8Array(idx), state: state === null ? null : new Uint8Array(state) };
    }
  }

  /** Reads a payload; damaged records in it are unreadable. Throws `DamagedChecksumsError`. */
  readPayload(id: number, isWanted?: (packed: Uint8Array) => boolean): Uint8Array | null {
    const [row] = this.#run<SealedRow>("SELECT seal, payload FROM segments WHERE id = ?", id);
    if (row === undefined || isWanted?.(new Uint8Array(row.payload)) === false) return null;
    return verify(row);
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    this.#hasInserted = true;
    const values = [id, this.#commits, index, state, this.#checksums.of(id, payload), payload];
    const gone = this.#leftOver.take() ?? this.#emptied.pop();
    if (gone === undefined) this.#execute(INSERT_SEGMENT, ...values);
    else this.#inOrder(() => this.#takePlace(gone, values));
  }

  /** Reuses the row of a deleted segment for a new one: one row written instead of two, by one statement. */
  #takePlace(gone: number, values: readonly unknown[]): void {
    const before = this.rowsWritten;
    this.#run(
      "UPDATE segments SET id = ?, commits = ?, idx = ?, state = ?, seal = ?, payload = ? WHERE id = ?",
      ...values,
      gone,
    );
    // The row can be missing only by damage.
    if (this.rowsWritten === before) this.#run(INSERT_SEGMENT, ...values);
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array, state: Uint8Array | null = null): void {
    const values = [this.#commits, index, state, this.#checksums.of(id, payload), payload, id];
    this.#execute(REPLACE_SEGMENT, ...values);
  }

  writeIndex(id: number, index: Uint8Array): void {
    this.#execute("UPDATE segments SET commits = ?, idx = ? WHERE id = ?", this.#commits, index, id);
  }

  writeState(id: number, state: Uint8Array): void {
    this.#execute("INSERT OR REPLACE INTO segment_states VALUES (?, ?, ?)", id, this.#commits, state);
  }

  writeOwnState(id: number, state: Uint8Array): void {
    this.#execute("UPDATE segments SET commits = ?, state = ? WHERE id = ?", this.#commits, state, id);
  }

  deleteSegment(id: number, hasState: boolean): void {
    this.#checksums.delete(id);
    this.#emptied.push(id);
    if (this.#collected === null) this.#deleteEmptied();
    if (hasState) this.#execute("DELETE FROM segment_states WHERE id = ?", id);
  }

  /** Takes note that the commit in the making leaves no message in the queue. */
  lastLeaves(): void {
    this.#isLast = true;
  }

  outbox(): readonly OutboxItem[] {
    return this.#run<SealedRow & { id: number; target: string }>(
      "SELECT id, target, seal, payload FROM outbox ORDER BY id",
    ).map(({ id, target, ...row }) => ({ id, target, payload: verifyOrNothing(row) }));
  }

  insertOutbox({ id, target, payload }: OutboxItem): void {
    this.#execute("INSERT INTO outbox VALUES (?, ?, ?, ?)", id, target, checksumsOf(payload), payload);
  }

  deleteOutbox(ids: readonly number[]): void {
    this.#execute("DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
  }

  readInbox(source: string): number {
    const [row] = this.#run<{ last_id: number; checksum: number }>(
      "SELECT last_id, checksum FROM inbox WHERE source = ?",
      source,
    );
    if (row === undefined) return 0;
    if (row.checksum !== inboxChecksum(source, row.last_id)) {
      throw new DamagedRowError(`the number of the last transfer from queue "${source}" is damaged`);
    }
    return row.last_id;
  }

  writeInbox(source: string, lastId: number): void {
    const values = [source, lastId, inboxChecksum(source, lastId)];
    this.#execute("INSERT OR REPLACE INTO inbox VALUES (?, ?, ?)", ...values);
  }

  notes(): Note[] {
    return this.#run<{ key: string; value: ArrayBuffer }>("SELECT key, value FROM notes ORDER BY key").map(
      ({ key, value }) => ({ key, bytes: new Uint8Array(value) }),
    );
  }

  writeNote(key: string, bytes: Uint8Array | null): void {
    if (bytes === null) this.#execute("DELETE FROM notes WHERE key = ?", key);
    else this.#execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", key, bytes);
  }

  journalHeads(bytes: number, from = 0, to = FINISHED_FIRST_SLOT): JournalHead[] {
    return this.#run<{ slot: number; head: ArrayBuffer }>(
      "SELECT slot, substr(body, 1, ?) AS head FROM journal WHERE slot >= ? AND slot < ?",
      bytes,
      from,
      to,
    ).map(({ slot, head }) => ({ slot, head: new Uint8Array(head) }));
  }

  readJournal(slot: number): Uint8Array | null {
    const [row] = this.#run<{ body: ArrayBuffer }>("SELECT body FROM journal WHERE slot = ?", slot);
    return row === undefined ? null : new Uint8Array(row.body);
  }

  writeJournal(slot: number, body: Uint8Array): void {
    this.#execute("INSERT OR REPLACE INTO journal VALUES (?, ?)", slot, body);
  }

  deleteJournal(from: number): void {
    this.#execute("DELETE FROM journal WHERE slot >= ?", from);
  }

  /** Reads the position of the queue: at least that of the latest commit of which a row is left. */
  readPosition(): CommitPosition {
    const [latest] = this.#run<{ commits: number | null }>(
      `SELECT max(commits) AS commits FROM
       (SELECT max(commits) AS commits FROM segments UNION ALL SELECT max(commits) FROM segment_states)`,
    );
    const [commits, messages] = this.#mark();
    return { epoch: this.readEpoch(), commits: Math.max(commits, latest?.commits ?? 0), messages };
  }

  /** Reads the usage of the object in the month of the stored position, as of then; `null` if none is stored. */
  readUsage(): QueueUsage | null {
    return usageFrom(this.#mark()[2]);
  }

  /** Writes the position and the usage. A contract, since stored data depends on it: see `mark` in `MIGRATIONS`. */
  writePosition({ commits, messages }: CommitPosition, usage = this.readUsage()): void {
    const { lastLeftAt } = this.#leftOver;
    this.#meta.write("mark", markText({ commits, messages, usage, epoch: this.#epoch, lastLeftAt }));
  }

  #mark(): Mark {
    return this.#meta.readJson<Mark>("mark") ?? [0, 0];
  }

  /** Raises the count of commits, so that after a loss no number stands for two of them. */
  raiseCommits(to: number): void {
    this.#commits = Math.max(this.#commits, to);
  }

  /** Reads the queue's record, `null` if it has none or that is damaged. */
  readRecord(): QueueRecord | null {
    const copy = this.#meta.read<string>(RECORD_KEY);
    return copy === null ? null : recordFrom(copy);
  }

  writeRecord(record: QueueRecord): void {
    this.#meta.write(RECORD_KEY, recordCopy(record));
  }

  /**
   * Deletes the queue: its messages, those on their way to other queues, and its record. Its position and its inbox
   * stay, so that a later queue of the same name uses no number twice. The usage of a shard goes: its queue has it.
   */
  drop(): void {
    const { epoch, messages } = this.readPosition();
    const position = { epoch, commits: this.#commits, messages };
    this.#leftOver.take();
    this.#storage.transactionSync(() => {
      for (const table of ["segments", "segment_states", "outbox", "notes", "journal"])
        this.#run(`DELETE FROM ${table}`);
      this.#run("DELETE FROM meta WHERE key IN ('record', 'damage')");
      this.writePosition(position, isShard(this.readName() ?? "") ? null : this.readUsage());
    });
  }

  readDamage(): readonly QueueDamage[] {
    return this.#meta.readJson<QueueDamage[]>("damage") ?? [];
  }

  writeDamage(damage: readonly QueueDamage[]): void {
    this.#meta.write("damage", JSON.stringify(damage));
  }

  /** Collects the statements of `write`, in order. Reads of `write` see the data from before them. */
  #statementsOf(write: () => void): readonly (() => void)[] {
    const collected: (() => void)[] = [];
    this.#collected = collected;
    try {
      write();
      this.#writeNewEpoch();
      const last = this.#isLast && this.#leftOver.isOn ? this.#emptied.pop() : undefined;
      this.#deleteEmptied();
      const now = { commits: this.#commits, epoch: this.#epoch };
      if (last !== undefined) this.#inOrder(() => this.#leftOver.leave(last, now));
    } finally {
      this.#collected = null;
      this.#emptied = [];
      this.#isLast = false;
      this.#hasInserted = false;
    }
    return collected;
  }

  /**
   * Writes the number of this epoch, unless this commit puts messages into an empty queue: then the ids of its segments
   * have the number, and later the mark has it.
   */
  #writeNewEpoch(): void {
    const epoch = this.#newEpoch;
    if (epoch === null) return;
    this.#newEpoch = null;
    const isTold = this.#leftOver.isOn && this.#hasInserted && this.#leftOver.isEmpty();
    if (!isTold) this.#meta.write("epoch", epoch);
  }

  #deleteEmptied(): void {
    for (const id of this.#emptied) this.#execute("DELETE FROM segments WHERE id = ?", id);
    this.#emptied = [];
  }

  /** Executes a write with the commit in the making, or at once where there is none. */
  #execute(sql: string, ...bindings: unknown[]): void {
    this.#inOrder(() => void this.#run(sql, ...bindings));
  }

  #inOrder(statement: () => void): void {
    if (this.#collected === null) statement();
    else this.#collected.push(statement);
  }

  #run<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: unknown[]): Row[] {
    const cursor = this.#storage.sql.exec<Row>(sql, ...bindings);
    const rows = cursor.toArray();
    this.rowsWritten += cursor.rowsWritten;
    this.rowsRead += cursor.rowsRead;
    return rows;
  }
}

function inboxChecksum(source: string, lastId: number): number {
  const bytes = new TextEncoder().encode(`${source}:${lastId}`);
  return checksumOf(new DataView(bytes.buffer), 0, bytes.byteLength);
}
