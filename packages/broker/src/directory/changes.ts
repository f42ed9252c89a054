import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import type { QueueStatus } from "../rpc/queue-status.ts";
import { NOTIFY_AGAIN_MS, NOTIFY_MS_MAX, type Notices } from "./notices.ts";
import type { Registry } from "./registry.ts";
import { lossShownBy, restoreQueue, statusOf } from "./status.ts";

/** Sender of notices to objects about changes. */
export type Notifier = Pick<Notices, "hasPending" | "notifyAll">;

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
  readonly #notices: Pick<Notices, "notify">;
  readonly #notifiers: readonly Notifier[];
  readonly #ports: ChangesPorts;

  /**
   * @param notices to queues.
   * @param others senders of notices to other objects.
   */
  constructor(registry: Registry, notices: Notices, others: readonly Notifier[], ports: ChangesPorts) {
    this.#registry = registry;
    this.#notices = notices;
    this.#notifiers = [notices, ...others];
    this.#ports = ports;
  }

  /** Changes a queue, and resolves when its object is notified or could not be reached for `NOTIFY_MS_MAX`. */
  async change(make: () => DirectoryReply): Promise<DirectoryReply> {
    const reply = this.#ports.transaction(make);
    if (!reply.ok) return reply;
    void this.notifyAll();
    await Promise.race([this.#notices.notify(reply.record.name), this.#ports.after(NOTIFY_MS_MAX)]);
    return reply;
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
    if (this.#hasPending) void this.notifyAll();
  }

  /** Takes the start of a queue's object with its copy of the record. @returns its status, and the loss that shows. */
  opened(queue: string, copy: QueueRecord | null): { status: QueueStatus; directoryLoss: string | null } {
    const directoryLoss = copy === null ? null : lossShownBy(this.#registry, copy);
    if (copy !== null) this.#ports.transaction(() => restoreQueue(this.#registry, copy));
    return { status: statusOf(this.#registry, queue), directoryLoss };
  }

  /** Sends all pending notices. Never rejects because an object cannot be reached. */
  async notifyAll(): Promise<void> {
    // Set before any call, so that a crash leaves no notice behind.
    await this.#ports.wakeAfter(NOTIFY_AGAIN_MS);
    const notified = await Promise.all(this.#notifiers.map((notifier) => notifier.notifyAll()));
    if (notified.every((all) => all)) await this.#ports.wakeAfter(null);
  }

  get #hasPending(): boolean {
    return this.#notifiers.some((notifier) => notifier.hasPending);
  }
}
