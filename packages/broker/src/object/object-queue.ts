import type { QueueCore } from "../queue/queue-core.ts";
import { nameIn, type OpenQueue, openQueue } from "./open-queue.ts";
import { idOf, type QueueSurroundings } from "./open-store.ts";
import { QueueNotFoundError } from "./registration.ts";

/** The queue of a Durable Object: opened by whoever asks for it first, and again once it was dropped. */
export class ObjectQueue {
  readonly #around: QueueSurroundings;
  #queue: OpenQueue | undefined;
  #opening: Promise<OpenQueue> | undefined;
  #isDropped = false;
  /** Calls of the object since it started, or since its queue was dropped. */
  requests = 0;

  constructor(around: QueueSurroundings) {
    this.#around = around;
  }

  /**
   * Whether it was dropped, and nobody has asked for it since: there is nothing in memory that a restart would not
   * find.
   */
  get isDropped(): boolean {
    return this.#isDropped && this.#opening === undefined;
  }

  /** `undefined` while it is not open. */
  get opened(): OpenQueue | undefined {
    return this.#queue;
  }

  /**
   * For a call of the object: the queue, opened if it is not. Throws `UnreadableQueueError`; the next call tries again.
   */
  async open(queue: string): Promise<OpenQueue> {
    this.requests += 1;
    return this.#open(queue);
  }

  async #open(queue: string): Promise<OpenQueue> {
    this.#opening ??= this.#begin(queue);
    this.#queue ??= await this.#opening;
    const { name } = this.#queue.core;
    if (name !== queue) throw new Error(`the object of queue "${name}" was asked for queue "${queue}"`);
    return this.#queue;
  }

  /**
   * Opens the queue whose object this is, `null` while nobody knows which one that is: what is stored may be another's.
   */
  async openKnown(): Promise<OpenQueue | null> {
    const { id, storage, env } = this.#around.host;
    const name = id.name ?? nameIn(storage);
    return name === null || idOf(name, env) !== id.toString() ? null : this.#open(name);
  }

  /** The core of a queue that exists. Throws `QueueNotFoundError` and `UnreadableQueueError`. */
  async existing(queue: string): Promise<QueueCore> {
    const { core, registration } = await this.open(queue);
    if (registration.definition === undefined) throw new QueueNotFoundError(queue);
    return core;
  }

  /** The core of a queue that can accept messages. Throws as `existing`, and `UnwritableQueueError`. */
  async accepting(queue: string): Promise<QueueCore> {
    const core = await this.existing(queue);
    const unwritable = this.#queue?.unwritable ?? null;
    if (unwritable !== null) throw unwritable;
    return core;
  }

  /** Drops what the queue holds; it is opened again by the next call. */
  async drop(open: OpenQueue): Promise<void> {
    const { backlogCount } = open.core.metrics();
    open.drop();
    this.#queue = undefined;
    this.#opening = undefined;
    this.requests = 0;
    const { storage, log } = this.#around.host;
    await storage.deleteAlarm();
    await storage.sync();
    this.#isDropped = true;
    log.log(`Queue "${open.core.name}" is deleted, ${backlogCount} message(s) in it`);
  }

  async #begin(queue: string): Promise<OpenQueue> {
    try {
      return await openQueue(queue, this.#around, () => this.requests);
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
