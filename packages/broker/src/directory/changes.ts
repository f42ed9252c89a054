import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import type { QueueStatus } from "../rpc/queue-status.ts";
import { NOTIFY_AGAIN_MS, NOTIFY_MS_MAX, type Notices } from "./notices.ts";
import type { Registry } from "./registry.ts";
import { shownRecord } from "./row.ts";
import type { ShardAsks } from "./shard-asks.ts";
import { hasShards, stepShards } from "./shards.ts";
import { lossShownBy, restoreQueue, statusOf } from "./status.ts";

/** Sender of notices to objects about changes. */
export type Notifier = Pick<Notices, "hasPending" | "notifyAll">;

/** Questions to shards. */
type ChangesAsks = Pick<ShardAsks, "ask" | "dueInMs">;

/** Operations of the directory's object that changes use. */
export interface ChangesPorts {
  /** Makes all writes or none. Throws and restarts the object when memory would differ from the store. */
  transaction<Result>(write: () => Result): Result;
  /** Sets the alarm that repeats notices, in ms from now; `null` when none is left. */
  wakeAfter(ms: number | null): Promise<void>;
  /** Resolves after a time in ms. */
  after(ms: number): Promise<void>;
}

/** Changes of the directory. Each is stored with its notices, which are then sent until they arrive. */
export class Changes {
  readonly #registry: Registry;
  readonly #notices: Pick<Notices, "notifyQueue">;
  readonly #notifiers: readonly Notifier[];
  readonly #asks: ChangesAsks;
  readonly #ports: ChangesPorts;

  /**
   * @param notices to queues.
   * @param others senders of notices to other objects.
   * @param asks questions to shards.
   */
  constructor(
    registry: Registry,
    { notices, others, asks }: { notices: Notices; others: readonly Notifier[]; asks: ChangesAsks },
    ports: ChangesPorts,
  ) {
    this.#registry = registry;
    this.#notices = notices;
    this.#notifiers = [notices, ...others];
    this.#asks = asks;
    this.#ports = ports;
  }

  /** Changes a queue. Resolves when calls to its objects have ended, after `NOTIFY_MS_MAX` at the latest. */
  async change(make: () => DirectoryReply): Promise<DirectoryReply> {
    const reply = this.#ports.transaction(make);
    if (!reply.ok) return reply;
    void this.notifyAll();
    const { record } = reply;
    await Promise.race([this.#notices.notifyQueue(record.name), this.#ports.after(NOTIFY_MS_MAX)]);
    const row = this.#registry.queue(record.name);
    const hasMap = row?.record.queueId === record.queueId && row.record.shards !== undefined;
    // It has changed again if shards were made.
    return hasMap ? { ok: true, record: shownRecord(row) } : reply;
  }

  /** Makes a change that several objects may need, and resolves when all are notified, or after `NOTIFY_MS_MAX`. */
  async changeMany<Reply>(make: () => Reply): Promise<Reply> {
    const reply = this.#ports.transaction(make);
    if (this.#hasPending) await Promise.race([this.notifyAll(), this.#ports.after(NOTIFY_MS_MAX)]);
    return reply;
  }

  /** At the object's start: applies a deployment unless that was done, and sends pending notices. */
  start(isApplied: boolean, apply: () => void): void {
    if (!isApplied) this.#ports.transaction(apply);
    // Rows may have been restored, or lost.
    const sharded = [...this.#registry.queues()].filter(({ record }) => hasShards(this.#registry, record));
    if (sharded.length > 0) {
      this.#ports.transaction(() => {
        for (const { record } of sharded) stepShards(this.#registry, record.name);
      });
    }
    if (this.#hasPending || this.#asks.dueInMs !== null) void this.notifyAll();
  }

  /** Takes the start of a queue's object with its copy of the record. @returns its status, and the loss that shows. */
  opened(queue: string, copy: QueueRecord | null): { status: QueueStatus; directoryLoss: string | null } {
    const directoryLoss = copy === null ? null : lossShownBy(this.#registry, copy);
    if (copy !== null) this.#ports.transaction(() => restoreQueue(this.#registry, copy));
    // Its shards may have been made again.
    if (directoryLoss !== null && this.#hasPending) void this.notifyAll();
    return { status: statusOf(this.#registry, queue), directoryLoss };
  }

  /** Sends all pending notices and asks shards. Never rejects because an object cannot be reached. */
  async notifyAll(): Promise<void> {
    // Set before any call, so that a crash leaves no notice behind.
    await this.#ports.wakeAfter(NOTIFY_AGAIN_MS);
    do await Promise.all(this.#notifiers.map((notifier) => notifier.notifyAll()));
    while (await this.#asks.ask());
    // Notices that became pending meanwhile need the alarm, too.
    if (!this.#hasPending) await this.#ports.wakeAfter(this.#asks.dueInMs);
  }

  get #hasPending(): boolean {
    return this.#notifiers.some((notifier) => notifier.hasPending);
  }
}
