import type { QueueCore } from "../queue/queue-core.ts";
import { nameIn, type OpenQueue, openQueue } from "./open-queue.ts";
import { isIdOf, type QueueSurroundings } from "./open-store.ts";
import { QueueNotFoundError } from "./registration.ts";

/** Opens the queue of a Durable Object on first use, and again on first use after it was dropped. */
export class ObjectQueue {
  readonly #surroundings: QueueSurroundings;
  #queue: OpenQueue | undefined;
  #opening: Promise<OpenQueue> | undefined;
  #wasDropped = false;
  /** Calls that the object got since it started, or since its queue was dropped. */
  requests = 0;

  constructor(surroundings: QueueSurroundings) {
    this.#surroundings = surroundings;
  }

  /** Whether it was dropped and not opened since: then nothing in memory is lost if the object ends. */
  get isDropped(): boolean {
    return this.#wasDropped && this.#opening === undefined;
  }

  /** `undefined` while it is not open. */
  get current(): OpenQueue | undefined {
    return this.#queue;
  }

  /** Counts a call and returns the queue, opened if need be. Throws `UnreadableQueueError`; the next call retries. */
  async forCall(queue: string): Promise<OpenQueue> {
    this.requests += 1;
    return this.#ensureOpen(queue);
  }

  async #ensureOpen(queue: string): Promise<OpenQueue> {
    this.#opening ??= this.#tryOpen(queue);
    this.#queue ??= await this.#opening;
    const { name } = this.#queue.core;
    if (name !== queue) throw new Error(`the object of queue "${name}" was asked for queue "${queue}"`);
    return this.#queue;
  }

  /**
   * Opens the queue that this object belongs to, by the object's name or the stored one. `null` if neither is there, or
   * the name has another object's id: a file of another queue.
   */
  async openOwn(): Promise<OpenQueue | null> {
    const { id, storage, env } = this.#surroundings.host;
    const name = id.name ?? nameIn(storage);
    return name !== null && isIdOf(name, id.toString(), env) ? this.#ensureOpen(name) : null;
  }

  /** Returns the core of a queue that exists. Throws `QueueNotFoundError` and `UnreadableQueueError`. */
  async coreOfExisting(queue: string): Promise<QueueCore> {
    const { core, registration } = await this.forCall(queue);
    if (registration.definition === undefined) throw new QueueNotFoundError(queue);
    return core;
  }

  /** Returns the core of a queue that can accept messages. Throws as `coreOfExisting`, and `UnwritableQueueError`. */
  async coreForSending(queue: string): Promise<QueueCore> {
    const core = await this.coreOfExisting(queue);
    const unwritable = this.#queue?.unwritable ?? null;
    if (unwritable !== null) throw unwritable;
    return core;
  }

  /** Drops what the queue holds; the next call opens it again. @param open this queue, as the caller has it open. */
  async drop(open: OpenQueue): Promise<void> {
    const { backlogCount } = open.core.metrics();
    const { storage, log } = this.#surroundings.host;
    await open.drop();
    // A call that came meanwhile has dropped it too. What is opened from now on is another queue.
    if (this.#queue !== open) return storage.sync();
    this.#queue = undefined;
    this.#opening = undefined;
    this.requests = 0;
    await storage.deleteAlarm();
    await storage.sync();
    this.#wasDropped = true;
    log.log(`Queue "${open.core.name}" is deleted, ${backlogCount} message(s) in it`);
  }

  async #tryOpen(queue: string): Promise<OpenQueue> {
    try {
      return await openQueue(queue, this.#surroundings, () => this.requests);
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
