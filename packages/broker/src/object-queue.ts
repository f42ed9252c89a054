import { nameIn, type OpenQueue } from "./open-queue.ts";
import type { QueueCore } from "./queue-core.ts";
import { QueueNotFoundError } from "./registration.ts";

/** The queue of a Durable Object: opened by whoever asks for it first, and again once it was dropped. */
export class ObjectQueue {
  readonly #ctx: DurableObjectState;
  readonly #load: (name: string) => Promise<OpenQueue>;
  #queue: OpenQueue | undefined;
  #opening: Promise<OpenQueue> | undefined;
  #isDropped = false;

  /** @param load opens a queue on what its object has stored. Throws `UnreadableQueueError`. */
  constructor(ctx: DurableObjectState, load: (name: string) => Promise<OpenQueue>) {
    this.#ctx = ctx;
    this.#load = load;
  }

  /** Whether it was dropped, and nobody has asked for it since: there is nothing in memory that a restart would not find. */
  get isDropped(): boolean {
    return this.#isDropped && this.#opening === undefined;
  }

  /** `undefined` while it is not open. */
  get opened(): OpenQueue | undefined {
    return this.#queue;
  }

  /** The queue, opened if it is not. Throws `UnreadableQueueError`; the next call tries again. */
  async open(queue: string): Promise<OpenQueue> {
    this.#opening ??= this.#begin(queue);
    this.#queue ??= await this.#opening;
    const { name } = this.#queue.core;
    if (name !== queue) throw new Error(`the object of queue "${name}" was asked for queue "${queue}"`);
    return this.#queue;
  }

  /** Opens the queue whose object this is, `null` while nobody knows which one that is. */
  async openKnown(): Promise<OpenQueue | null> {
    const name = this.#ctx.id.name ?? nameIn(this.#ctx.storage);
    return name === null ? null : this.open(name);
  }

  /** The core of a queue that exists. Throws `QueueNotFoundError` and `UnreadableQueueError`. */
  async existing(queue: string): Promise<QueueCore> {
    const { core, registration } = await this.open(queue);
    if (registration.definition === undefined) throw new QueueNotFoundError(queue);
    return core;
  }

  /** The same at once, `null` where there is more to it. */
  existingNow(queue: string): QueueCore | null {
    const open = this.#queue;
    if (open === undefined || open.core.name !== queue) return null;
    return open.registration.definition === undefined ? null : open.core;
  }

  /** The core of a queue that can take messages in. Throws as `existing`, and `UnwritableQueueError`. */
  async taking(queue: string): Promise<QueueCore> {
    const core = await this.existing(queue);
    const unwritable = this.#queue?.unwritable ?? null;
    if (unwritable !== null) throw unwritable;
    return core;
  }

  /** The same at once, `null` where there is more to it: most calls need no promise for it. */
  takingNow(queue: string): QueueCore | null {
    return this.#queue?.unwritable === null ? this.existingNow(queue) : null;
  }

  /** Runs `work` in the next turn of a queue that exists and resolves with its result when that is durable. */
  async inTurn<Result>(queue: string, work: (core: QueueCore) => Result): Promise<Result> {
    const core = await this.existing(queue);
    return core.submit(() => work(core));
  }

  /** Drops what the queue holds; it is opened again by the next call. */
  async drop(open: OpenQueue): Promise<void> {
    const { backlogCount } = open.core.metrics();
    open.drop();
    this.#queue = undefined;
    this.#opening = undefined;
    await this.#ctx.storage.deleteAlarm();
    await this.#ctx.storage.sync();
    this.#isDropped = true;
    console.log(`Queue "${open.core.name}" is deleted, ${backlogCount} message(s) in it`);
  }

  async #begin(queue: string): Promise<OpenQueue> {
    try {
      return await this.#load(queue);
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
