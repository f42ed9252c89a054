import { isHiddenQueue, isShard, type QueueDefinition, type QueueRecord, shardOf } from "@sluice/protocol";
import {
  type DeletedRow,
  type DirectoryRow,
  isNotified,
  nameOf,
  type QueueRow,
  revisionOf,
  shownRecord,
} from "./row.ts";

/** Most deletions that are remembered after the objects of their queues are empty. */
export const DELETIONS_KEPT_MAX = 1_000;

/** Operations of its surroundings that the registry uses. */
export interface RegistryPorts {
  /** Stores a row under the queue's name. */
  save(row: DirectoryRow): void;
  /** Deletes the row of a name. */
  erase(name: string): void;
  now(): number;
  /** Makes a new id of 32 hexadecimal digits. */
  newId(): string;
  /** Whether the platform makes objects in a jurisdiction. Default: no. */
  readonly hasJurisdictions?: boolean;
  /** Queues of the configuration that is applied. Default: none. */
  readonly configured?: Readonly<Record<string, QueueDefinition>>;
}

/** All queues of an account, in memory. Every change is stored before it is used. */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #rows = new Map<string, DirectoryRow>();
  readonly #namesById = new Map<string, string>();
  /** Names of the shards of each queue, without shard 0. */
  readonly #shards = new Map<string, Set<string>>();
  #lastRevision = 0;
  #queues = 0;

  constructor(rows: Iterable<DirectoryRow>, ports: RegistryPorts) {
    this.#ports = ports;
    for (const row of rows) this.#enter(row);
  }

  /** Number of queues, without hidden ones. */
  get size(): number {
    return this.#queues;
  }

  get nowMs(): number {
    return this.#ports.now();
  }

  newId(): string {
    return this.#ports.newId();
  }

  /** Whether the platform makes objects in a jurisdiction. */
  get hasJurisdictions(): boolean {
    return this.#ports.hasJurisdictions === true;
  }

  /** Definition of a queue in the configuration that is applied; `null` for a queue that it does not name. */
  configuredAs(name: string): QueueDefinition | null {
    const { configured = {} } = this.#ports;
    return Object.hasOwn(configured, name) ? (configured[name] ?? null) : null;
  }

  /** Names of the queues of the configuration that were deleted since it was applied, as far as that is remembered. */
  get deletedOfConfiguration(): string[] {
    return Object.keys(this.#ports.configured ?? {}).filter((name) => this.row(name)?.kind === "deleted");
  }

  /** Latest revision of any queue or remembered deletion. */
  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** Makes a later revision than any before, in this registry or in one that was lost. */
  nextRevision(): number {
    return Math.max(this.#lastRevision + 1, this.nowMs);
  }

  row(name: string): DirectoryRow | undefined {
    return this.#rows.get(name);
  }

  queue(name: string): QueueRow | undefined {
    const row = this.#rows.get(name);
    return row?.kind === "queue" ? row : undefined;
  }

  queueById(queueId: string): QueueRow | undefined {
    const name = this.#namesById.get(queueId);
    return name === undefined ? undefined : this.queue(name);
  }

  /** Rows of queues, without those of their shards other than the first. */
  *queues(): Iterable<QueueRow> {
    for (const [name, row] of this.#rows) if (row.kind === "queue" && !isShard(name)) yield row;
  }

  /** Lists the rows of a queue's shards other than the first. */
  shards(queue: string): QueueRow[] {
    return [...(this.#shards.get(queue) ?? [])].flatMap((name) => this.queue(name) ?? []);
  }

  /** Lists queues in order of their names, without hidden ones. */
  list(): QueueRecord[] {
    const records = [...this.queues()].flatMap((row) =>
      isHiddenQueue(row.record.name) ? [] : shownRecord(row),
    );
    return records.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Lists the queues that no dialect shows. */
  hidden(): QueueRecord[] {
    return [...this.#rows].flatMap(([name, row]) =>
      row.kind === "queue" && isHiddenQueue(name) ? row.record : [],
    );
  }

  /** Lists the rows of which their queues' objects are not notified. */
  pending(): DirectoryRow[] {
    return [...this.#rows.values()].filter((row) => !isNotified(row));
  }

  /** Notes that the object of a deleted queue is empty, and forgets the oldest of too many such deletions. */
  emptied(row: DeletedRow): void {
    this.put({ ...row, isEmptied: true });
    const emptied = [...this.#rows.values()].flatMap((other) =>
      other.kind === "deleted" && other.isEmptied === true ? [other] : [],
    );
    if (emptied.length <= DELETIONS_KEPT_MAX) return;
    const oldest = emptied.reduce((a, b) => (a.revision < b.revision ? a : b));
    this.#forget(oldest.name);
  }

  put(row: DirectoryRow): void {
    this.#ports.save(row);
    this.#leave(nameOf(row));
    this.#enter(row);
  }

  #forget(name: string): void {
    this.#ports.erase(name);
    this.#leave(name);
  }

  #enter(row: DirectoryRow): void {
    this.#rows.set(nameOf(row), row);
    this.#lastRevision = Math.max(this.#lastRevision, revisionOf(row));
    if (row.kind !== "queue") return;
    const { name, queueId } = row.record;
    if (!isHiddenQueue(name)) this.#queues += 1;
    this.#namesById.set(queueId, name);
    if (!isShard(name)) return;
    const { queue } = shardOf(name);
    this.#shards.set(queue, (this.#shards.get(queue) ?? new Set()).add(name));
  }

  #leave(name: string): void {
    const row = this.#rows.get(name);
    this.#rows.delete(name);
    if (row?.kind !== "queue") return;
    if (!isHiddenQueue(name)) this.#queues -= 1;
    this.#namesById.delete(row.record.queueId);
    if (isShard(name)) this.#shards.get(shardOf(name).queue)?.delete(name);
  }
}
