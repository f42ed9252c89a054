import type { QueueRecord } from "@sluice/protocol";
import type { Registry } from "./registry.ts";
import { type DirectoryRow, isTold, nameOf } from "./row.ts";

/** When queues that could not be told of a change are told again, in ms. */
export const TELL_AGAIN_MS = 5_000;
/** Longest that the answer to a change waits for the queue to know of it, in ms. */
export const TELL_MS_MAX = 5_000;
/** Queues that are told at a time. */
const TELLING_MAX = 20;

/** Operations of their surroundings that notices use. */
export interface NoticePorts {
  /** Tells a queue's object what it is now. */
  configure(queue: string, record: QueueRecord): Promise<void>;
  /** Tells a queue's object that it was deleted at `revision`; resolves when it is empty. */
  clear(queue: string, revision: number): Promise<void>;
  /** Makes what a telling changes durable. */
  transaction(write: () => void): void;
  warn(line: string): void;
}

/**
 * Tells queues' objects what the directory has decided. A change is written down as untold before anybody is called,
 * and as told when the object has confirmed it: no crash in between leaves a queue with old settings, or lets a deleted
 * one keep its messages.
 */
export class Notices {
  readonly #registry: Registry;
  readonly #ports: NoticePorts;
  readonly #telling = new Map<string, Promise<void>>();

  constructor(registry: Registry, ports: NoticePorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  /** Whether somebody does not know. */
  get hasUntold(): boolean {
    return this.#registry.untold().length > 0;
  }

  /** Tells everybody who does not know. Resolves to whether all of them know now; never rejects. */
  async tellAll(): Promise<boolean> {
    const names = this.#registry.untold().map(nameOf);
    const next = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) await this.tell(name);
    };
    await Promise.all(Array.from({ length: TELLING_MAX }, next));
    return !this.hasUntold;
  }

  /** Tells one queue what it does not know. Never rejects. */
  async tell(name: string): Promise<void> {
    // One call at a time: the row can have changed since the one that runs was made.
    for (let call = this.#telling.get(name); call !== undefined; call = this.#telling.get(name)) await call;
    const row = this.#registry.row(name);
    if (row === undefined || isTold(row)) return;
    const telling = this.#tell(row);
    this.#telling.set(name, telling);
    await telling;
    this.#telling.delete(name);
  }

  async #tell(row: DirectoryRow): Promise<void> {
    const name = nameOf(row);
    try {
      if (row.kind === "queue") await this.#ports.configure(name, row.record);
      else await this.#ports.clear(name, row.revision);
      this.#ports.transaction(() => this.#told(name, row));
    } catch (error) {
      this.#ports.warn(
        `queue "${name}" does not know yet what it was changed to, it is told again: ${error}`,
      );
    }
  }

  #told(name: string, told: DirectoryRow): void {
    const row = this.#registry.row(name);
    if (told.kind === "deleted") {
      if (row?.kind === "deleted" && row.revision === told.revision) this.#registry.emptied(row);
    } else if (row?.kind === "queue" && row.record.queueId === told.record.queueId) {
      this.#registry.put({ ...row, told: told.record.revision });
    }
  }
}
