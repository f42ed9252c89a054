import type { DirectoryReply, QueueRecord } from "@sluice/protocol";
import type { QueueStatus } from "../rpc/queue-status.ts";
import { type Notices, TELL_AGAIN_MS, TELL_MS_MAX } from "./notices.ts";
import type { Registry } from "./registry.ts";
import { lossShownBy, restoreQueue, statusOf } from "./status.ts";

/** Sender of notices, which tells objects about changes. */
export type Teller = Pick<Notices, "hasUntold" | "tellAll">;

/** Operations of the directory's object that changes use. */
export interface ChangesPorts {
  /** All writes or none; afterwards memory is what is stored, or the object starts again and this throws. */
  transaction<Result>(write: () => Result): Result;
  /** Sets when the object is woken to tell again, in ms from now; `null` when everybody knows. */
  wakeAfter(ms: number | null): Promise<void>;
  /** Resolves after so many ms. */
  after(ms: number): Promise<void>;
}

/**
 * How the directory makes a change: it is stored first, with a note of who does not know of it; then they are told, and
 * whoever cannot be reached is told again later.
 */
export class Changes {
  readonly #registry: Registry;
  readonly #notices: Pick<Notices, "tell">;
  readonly #tellers: readonly Teller[];
  readonly #ports: ChangesPorts;

  /**
   * @param notices tell queues.
   * @param others tell other objects.
   */
  constructor(registry: Registry, notices: Notices, others: readonly Teller[], ports: ChangesPorts) {
    this.#registry = registry;
    this.#notices = notices;
    this.#tellers = [notices, ...others];
    this.#ports = ports;
  }

  /** Makes a change of a queue, and answers when the queue knows of it or could not be reached for `TELL_MS_MAX`. */
  async change(make: () => DirectoryReply): Promise<DirectoryReply> {
    const reply = this.#ports.transaction(make);
    if (!reply.ok) return reply;
    void this.tellAll();
    await Promise.race([this.#notices.tell(reply.record.name), this.#ports.after(TELL_MS_MAX)]);
    return reply;
  }

  /** The same for a change that many may have to know of: answers when all of them do. */
  async changeMany<Reply>(make: () => Reply): Promise<Reply> {
    const reply = this.#ports.transaction(make);
    if (this.#hasUntold) await Promise.race([this.tellAll(), this.#ports.after(TELL_MS_MAX)]);
    return reply;
  }

  /** At the object's start: applies a deployment unless that was done, and goes on telling. */
  start(isApplied: boolean, apply: () => void): void {
    if (!isApplied) this.#ports.transaction(apply);
    if (this.#hasUntold) void this.tellAll();
  }

  /**
   * A queue's object has started, with a copy of what it was by what it last knew. Answers what it is, and what is lost
   * of it.
   */
  opened(queue: string, copy: QueueRecord | null): { status: QueueStatus; directoryLoss: string | null } {
    const directoryLoss = copy === null ? null : lossShownBy(this.#registry, copy);
    if (copy !== null) this.#ports.transaction(() => restoreQueue(this.#registry, copy));
    return { status: statusOf(this.#registry, queue), directoryLoss };
  }

  /** Tells everybody who does not know. Never rejects because somebody cannot be reached. */
  async tellAll(): Promise<void> {
    // Before anybody is called: a crash must not leave a queue untold.
    await this.#ports.wakeAfter(TELL_AGAIN_MS);
    const told = await Promise.all(this.#tellers.map((teller) => teller.tellAll()));
    if (told.every((all) => all)) await this.#ports.wakeAfter(null);
  }

  get #hasUntold(): boolean {
    return this.#tellers.some((teller) => teller.hasUntold);
  }
}
