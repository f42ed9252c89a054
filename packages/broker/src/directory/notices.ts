import { type QueueRecord, shardOf } from "@sluice/protocol";
import { droppedLine } from "../platform/shard-lines.ts";
import type { Registry } from "./registry.ts";
import { type DeletedRow, type DirectoryRow, isNotified, nameOf, revisionOf } from "./row.ts";
import { stepShards } from "./shards.ts";

/** Wait before notices that did not arrive are sent again, in ms. */
export const NOTIFY_AGAIN_MS = 5_000;
/** Longest time that the answer to a change waits for its notice to arrive, in ms. */
export const NOTIFY_MS_MAX = 5_000;
/** Most queues that are notified at a time. */
const NOTIFIED_AT_ONCE_MAX = 20;

/** Operations of their surroundings that notices use. */
export interface NoticePorts {
  /** Notifies a queue's object of its record. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /** Notifies the object of a deleted queue; resolves when it is empty, to how many messages it has dropped. */
  clear(deleted: DeletedRow): Promise<number>;
  /** Stores that a notice has arrived. */
  transaction(write: () => void): void;
  log(line: string): void;
  warn(line: string): void;
}

/**
 * Notices to queues' objects about changes. A notice is stored as pending before the object is called, and as notified
 * when that has confirmed it. So no crash leaves a queue with old settings, or lets a deleted one keep its messages.
 */
export class Notices {
  readonly #registry: Registry;
  readonly #ports: NoticePorts;
  readonly #notifying = new Map<string, Promise<void>>();
  /** Messages that shards of a deleted queue have dropped, until all have. */
  readonly #dropped = new Map<string, number>();

  constructor(registry: Registry, ports: NoticePorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  get hasPending(): boolean {
    return this.#registry.pending().length > 0;
  }

  /** Sends all pending notices. Resolves to whether all have arrived; never rejects. */
  async notifyAll(): Promise<boolean> {
    await this.#notifyEach(() => this.#registry.pending());
    return !this.hasPending;
  }

  /** Sends the pending notices to a queue and its shards. Never rejects. */
  async notifyQueue(queue: string): Promise<void> {
    await this.#notifyEach(() =>
      this.#registry.pending().filter((row) => shardOf(nameOf(row)).queue === queue),
    );
  }

  /** Sends notices, each once, with those that become pending when others have arrived. */
  async #notifyEach(pending: () => DirectoryRow[]): Promise<void> {
    const sent = new Set<string>();
    const keyOf = (row: DirectoryRow) => `${nameOf(row)} ${revisionOf(row)}`;
    for (;;) {
      const rows = pending().filter((row) => !sent.has(keyOf(row)));
      if (rows.length === 0) return;
      for (const row of rows) sent.add(keyOf(row));
      const names = rows.map(nameOf);
      const next = async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) await this.notify(name);
      };
      await Promise.all(Array.from({ length: NOTIFIED_AT_ONCE_MAX }, next));
    }
  }

  /** Sends the pending notice to a queue, if there is one. Never rejects. */
  async notify(name: string): Promise<void> {
    // One call at a time, because the row may have changed since a call that still runs.
    for (let call = this.#notifying.get(name); call !== undefined; call = this.#notifying.get(name))
      await call;
    const row = this.#registry.row(name);
    if (row === undefined || isNotified(row)) return;
    const notifying = this.#notify(row);
    this.#notifying.set(name, notifying);
    await notifying;
    this.#notifying.delete(name);
  }

  async #notify(row: DirectoryRow): Promise<void> {
    const name = nameOf(row);
    try {
      if (row.kind === "queue") await this.#ports.configure(name, row.record);
      const messages = row.kind === "queue" ? null : await this.#ports.clear(row);
      this.#ports.transaction(() => this.#noteArrived(name, row));
      if (messages !== null) this.#logDropped(name, messages);
    } catch (error) {
      this.#ports.warn(`queue "${name}" does not know its change yet, and is notified again: ${error}`);
    }
  }

  /** Logs that a shard is gone, or that a queue is deleted, once all its shards have dropped what they held. */
  #logDropped(name: string, messages: number): void {
    const { queue } = shardOf(name);
    if (this.#registry.queue(queue) !== undefined) {
      this.#dropped.delete(queue);
      this.#ports.log(droppedLine(name, messages));
      return;
    }
    const dropped = (this.#dropped.get(queue) ?? 0) + messages;
    this.#dropped.delete(queue);
    const isPending = this.#registry.pending().some((row) => shardOf(nameOf(row)).queue === queue);
    if (isPending) this.#dropped.set(queue, dropped);
    else this.#ports.log(droppedLine(queue, dropped));
  }

  /** Within a transaction: stores that a notice has arrived. */
  #noteArrived(name: string, notice: DirectoryRow): void {
    const row = this.#registry.row(name);
    if (notice.kind === "deleted") {
      if (row?.kind === "deleted" && row.revision === notice.revision) this.#registry.emptied(row);
    } else if (row?.kind === "queue" && row.record.queueId === notice.record.queueId) {
      const { shownShards, ...rest } = row;
      const isShown = shownShards === undefined || notice.record.shards?.epoch === row.record.shards?.epoch;
      this.#registry.put({ ...(isShown ? rest : row), told: notice.record.revision });
    }
    stepShards(this.#registry, shardOf(name).queue);
  }
}
