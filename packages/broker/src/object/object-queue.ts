import { readShardAddress } from "@sluice/protocol";
import type { QueueCore } from "../queue/queue-core.ts";
import { type CalledObject, callerMapOf, refuseOtherMap } from "../shards/called-by-map.ts";
import type { CallerMap } from "../shards/caller-map.ts";
import { nameIn, type OpenQueue, openQueue } from "./open/open-queue.ts";
import { isIdOf, type QueueSurroundings } from "./open/open-store.ts";
import { QueueNotFoundError } from "./registration.ts";

/** An open queue, for a call that brings messages. */
export interface SendingCall extends Pick<OpenQueue, "core" | "unwritable"> {
  readonly callerMap: CallerMap;
}

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

  /**
   * Counts a call and returns the queue, opened if need be. Throws `UnreadableQueueError`; the next call retries.
   *
   * @param address name of the object, with the epoch of the caller's map or without.
   */
  async forCall(address: string): Promise<OpenQueue> {
    this.requests += 1;
    return this.#ensureOpen(readShardAddress(address).object);
  }

  /** Returns the queue for a caller with its current shard map. Throws as `forCall`, and `ShardMapError`. */
  async forCaller(address: string): Promise<OpenQueue> {
    const open = await this.forCall(address);
    refuseOtherMap(calledBy(address, open));
    return open;
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
  async coreOfExisting(address: string): Promise<QueueCore> {
    const open = await this.#existing(address);
    refuseOtherMap(calledBy(address, open));
    return open.core;
  }

  /**
   * Returns a queue that exists for a call that brings messages. Throws as `coreOfExisting`.
   *
   * @param isOpenToAll whether shard 0 of a standard queue takes messages of a caller without a map.
   */
  async forSending(address: string, isOpenToAll: boolean): Promise<SendingCall> {
    const { core, unwritable, registration } = await this.#existing(address);
    const callerMap = callerMapOf(address, () => registration.record, isOpenToAll);
    callerMap.check();
    return { core, unwritable, callerMap };
  }

  async #existing(address: string): Promise<OpenQueue> {
    const open = await this.forCall(address);
    if (open.registration.definition === undefined)
      throw new QueueNotFoundError(readShardAddress(address).object);
    return open;
  }

  /**
   * Drops what the queue holds; the next call opens it again.
   *
   * @param open this queue, as the caller has it open.
   * @returns how many messages it held, those in delivery too; 0 if another call has dropped it.
   */
  async drop(open: OpenQueue): Promise<number> {
    const { ready, delayed, leased } = open.core.describe();
    const { storage } = this.#surroundings.host;
    await open.drop();
    // A concurrent call has dropped it too. The queue that is open now, if any, is another one.
    if (this.#queue !== open) {
      await storage.sync();
      return 0;
    }
    this.#queue = undefined;
    this.#opening = undefined;
    this.requests = 0;
    await storage.deleteAlarm();
    await storage.sync();
    this.#wasDropped = true;
    return ready + delayed + leased;
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

function calledBy(address: string, { registration }: OpenQueue): CalledObject {
  return { ...readShardAddress(address), record: registration.record };
}
