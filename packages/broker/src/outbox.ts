import { PackedIndex, type PendingHandOver } from "@sluice/protocol";
import { Backoff } from "./backoff.ts";
import { joinOwned } from "./lease-records.ts";
import { armNextWake } from "./next-wake.ts";
import type { HandOver } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";
import { isStorable, readableRanges } from "./readable.ts";
import { DamagedRowError, type OutboxItem } from "./store.ts";

/**
 * A hand-over that was not answered within this time has failed and is tried again, in ms: one that never ends would keep
 * everything behind it. Should it arrive after all, the target has taken its id by then.
 */
export const HAND_OVER_MS_MAX = 30_000;

/**
 * What one call takes along for its target, and one commit there takes in: so many items, and so many bytes unless the first
 * item has more. What each commit of a busy queue leaves is small.
 */
export const HAND_OVER_ITEMS_MAX = 200;
export const HAND_OVER_BYTES_MAX = 1_000_000;

/** How long a hand-over of what is stored nowhere may take, in ms: its sender is waiting for it. */
export const OFFER_MS_MAX = 1_000;

/** A target that is being handed over to. */
interface Call {
  /** When the hand-over under way is given up, in ms; Infinity while its end is being committed. */
  endsMs: number;
}

/**
 * Messages on their way to other queues. They were written in the commit that took them out of this one; they are handed
 * over afterwards, in order for each target and as many at a time as wait for it, and deleted when the target has committed. A
 * crash in between repeats the hand-over, and the target recognises each item by its id.
 */
export class Outbox {
  readonly #core: QueueCore;
  readonly #waiting = new Map<string, OutboxItem[]>();
  readonly #running = new Map<string, Call>();
  readonly #backoffs = new Map<string, Backoff>();
  readonly #taken = new Map<string, number>();
  #nextId: number;

  constructor(core: QueueCore, firstId: number) {
    this.#core = core;
    this.#nextId = firstId;
  }

  /** Reads what an earlier life left behind. What its target could not read would keep all that follows from it. */
  load(): void {
    const { store } = this.#core.ports;
    for (const item of store.outbox()) {
      const payload = this.#readable(item);
      if (payload === null) this.#core.write(() => store.deleteOutbox([item.id]));
      else this.#enqueue({ ...item, payload });
    }
  }

  /** The records of an item that can be read, `null` if none can. The others are reported as lost. */
  #readable({ target, payload }: OutboxItem): Uint8Array | null {
    const { damage } = this.#core;
    try {
      const index = new PackedIndex(payload);
      const ranges = readableRanges(index, 0, index.count, isStorable);
      const lost = index.count - ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      if (lost > 0) {
        damage.note("messagesLost", lost, `${lost} message(s) for queue "${target}" are damaged and lost`);
      } else if (ranges.length === 0) {
        damage.note("messagesLost", null, `messages for queue "${target}" are damaged and lost`);
      }
      if (ranges.length === 0) return null;
      return joinOwned(ranges.map(({ from, to }) => index.records(from, to)));
    } catch (error) {
      damage.note("messagesLost", null, `messages for queue "${target}" are damaged and lost: ${error}`);
      return null;
    }
  }

  /** Whether hand-overs are under way. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether everything that was put in has arrived. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** What has not arrived, for people. */
  describe(): PendingHandOver[] {
    return [...this.#waiting].map(([target, items]) => {
      const backoff = this.#running.has(target) ? undefined : this.#backoffs.get(target);
      return {
        target,
        messages: items.reduce((sum, { payload }) => sum + new PackedIndex(payload).count, 0),
        retryAtMs: backoff?.failing === true ? backoff.retryAtMs : null,
      };
    });
  }

  /** Within a turn: adds messages for `target`. */
  put(target: string, payload: Uint8Array): void {
    const item = { id: this.#nextId++, target, payload };
    this.#core.write(() => this.#core.ports.store.insertOutbox(item));
    this.#enqueue(item);
  }

  /**
   * Whether `offer` may be used: nothing is on its way to the target that could be overtaken, and this life is stored. Without a
   * commit the next one would count from the same number, and the target take its first items for those of this one.
   */
  canOffer(target: string): boolean {
    const { ports, isLifeWritten } = this.#core;
    const isIdle = !this.#waiting.has(target) && !this.#running.has(target);
    return isIdle && isLifeWritten && ports.after !== undefined;
  }

  /**
   * Hands over what is stored nowhere: a target that takes it at once spares a commit to note it and one to forget it.
   *
   * @returns `null` when the target has it. Else the item, which it may have all the same: it has to be given to `keep` or
   *   `withdraw`, and nothing else goes to the target until it was.
   */
  async offer(target: string, payload: Uint8Array): Promise<OutboxItem | null> {
    const { ports } = this.#core;
    const item = { id: this.#nextId++, target, payload };
    // Its end is not for `start` to say.
    this.#running.set(target, { endsMs: Infinity });
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    ports.after?.(() => resolve(false), OFFER_MS_MAX);
    if (!(await Promise.race([this.#isTaken(item), late]))) return item;
    this.#release(target);
    return null;
  }

  /** Never rejects: who did not answer may have it or not. */
  async #isTaken({ id, target, payload }: OutboxItem): Promise<boolean> {
    const { ports, name } = this.#core;
    try {
      const reply = await ports.handOver(target, { source: name, id, packed: payload, more: [] });
      return reply === undefined || reply.takenTo >= id;
    } catch {
      return false;
    }
  }

  /** Within a turn: stores what an offer left open. It comes before all that has come since. */
  keep(item: OutboxItem): void {
    this.#core.write(() => this.#core.ports.store.insertOutbox(item));
    this.#waiting.set(item.target, [item, ...(this.#waiting.get(item.target) ?? [])]);
    this.#running.delete(item.target);
  }

  /** Lets go of what an offer left open and its sender does not want any more. */
  withdraw({ target }: OutboxItem): void {
    this.#release(target);
  }

  #release(target: string): void {
    this.#running.delete(target);
    if (this.#waiting.has(target)) void this.#handOver(target);
  }

  /** The last hand-over that was taken from `source`. */
  takenFrom(source: string): number {
    const known = this.#taken.get(source);
    if (known !== undefined) return known;
    try {
      return this.#core.ports.store.readInbox(source);
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error;
      // Better taken twice than never.
      this.#core.damage.note("messagesAgain", 0, `${error.message}; what comes is taken as new`);
      return 0;
    }
  }

  noteTaken(source: string, id: number): void {
    this.#taken.set(source, id);
  }

  /** When a hand-over that failed is due again in ms, `null` if none waits. */
  get retryAtMs(): number | null {
    if (this.#waiting.size === 0) return null;
    const waits = [...this.#waiting.keys()]
      .filter((target) => !this.#running.has(target))
      .map((target) => this.#backoffs.get(target))
      .map((backoff) => (backoff?.failing === true ? backoff.retryAtMs : this.#core.nowMs));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** After a commit: hands over what waits for targets that nobody is handing over to. */
  start(): void {
    for (const [target, { endsMs }] of this.#running) {
      if (this.#core.nowMs >= endsMs)
        this.#failed(target, `it cannot be reached: no answer within ${HAND_OVER_MS_MAX / 1000} s`);
    }
    for (const target of this.#waiting.keys()) {
      const backoff = this.#backoffs.get(target);
      if (backoff?.failing === true && this.#core.nowMs < backoff.retryAtMs) continue;
      if (!this.#running.has(target)) void this.#handOver(target);
    }
  }

  #enqueue(item: OutboxItem): void {
    const waiting = this.#waiting.get(item.target);
    if (waiting === undefined) this.#waiting.set(item.target, [item]);
    else waiting.push(item);
  }

  async #handOver(target: string): Promise<void> {
    const { ports, name } = this.#core;
    const call: Call = { endsMs: 0 };
    this.#running.set(target, call);
    try {
      // Of those who do not say what they have taken, it is the first item.
      let itemsMax = HAND_OVER_ITEMS_MAX;
      for (let items = this.#next(target, itemsMax); items !== null; items = this.#next(target, itemsMax)) {
        call.endsMs = this.#core.nowMs + HAND_OVER_MS_MAX;
        const reply = await ports.handOver(target, { source: name, ...items });
        if (this.#running.get(target) !== call) return;
        call.endsMs = Infinity;
        if (reply === undefined) itemsMax = 1;
        const { takenTo, refused } = reply ?? { takenTo: items.id, refused: null };
        const goesOn = await this.#core.submit(() => this.#settle(target, takenTo, refused !== null));
        if (!goesOn) {
          this.#failed(target, `it does not take them: ${refused}`);
          armNextWake(this.#core);
          return;
        }
      }
    } catch (error) {
      if (this.#running.get(target) !== call) return;
      this.#failed(target, `it cannot be reached: ${error}`);
      armNextWake(this.#core);
      return;
    }
    this.#backoffs.delete(target);
    this.#running.delete(target);
    armNextWake(this.#core);
  }

  /** Ends the hand-overs to a target for now: what waits for it is tried again later. */
  #failed(target: string, reason: string): void {
    const { ports, name, nowMs } = this.#core;
    const backoff = this.#backoffs.get(target) ?? new Backoff();
    this.#backoffs.set(target, backoff);
    backoff.failed(nowMs);
    this.#running.delete(target);
    ports.log.error(`Queue "${name}": messages for queue "${target}" wait, ${reason}`);
  }

  /** What the next call to a target takes along; `null` when nothing waits for it. */
  #next(target: string, itemsMax: number): Omit<HandOver, "source"> | null {
    const [first, ...others] = this.#waiting.get(target)?.slice(0, itemsMax) ?? [];
    if (first === undefined) return null;
    let bytes = first.payload.byteLength;
    const fits = ({ payload }: OutboxItem) => {
      bytes += payload.byteLength;
      return bytes <= HAND_OVER_BYTES_MAX;
    };
    const end = others.findIndex((item) => !fits(item));
    const more = end === -1 ? others : others.slice(0, end);
    return {
      ...{ id: first.id, packed: first.payload },
      more: more.map(({ id, payload }) => ({ id, packed: payload })),
    };
  }

  /** Within a turn: answers with whether what waits for a target has become less by its answer. */
  #settle(target: string, takenTo: number, isRefused: boolean): boolean {
    const isTaken = this.#confirmed(target, takenTo);
    return isRefused ? this.#mend(target) || isTaken : isTaken;
  }

  /** A target has every item up to `takenTo`. Answers with whether there was any. */
  #confirmed(target: string, takenTo: number): boolean {
    const waiting = this.#waiting.get(target) ?? [];
    const end = waiting.findIndex(({ id }) => id > takenTo);
    const taken = end === -1 ? waiting : waiting.slice(0, end);
    if (taken.length === 0) return false;
    this.#replace(target, waiting.slice(taken.length));
    this.#core.write(() => this.#core.ports.store.deleteOutbox(taken.map(({ id }) => id)));
    return true;
  }

  /**
   * Takes out of the first item what its target could not read, so that what follows is not kept by it. What can be read here
   * stays as it is: two builds need not agree while a deployment goes on, and nothing is lost by waiting.
   *
   * @returns whether anything was taken out.
   */
  #mend(target: string): boolean {
    const { store } = this.#core.ports;
    const [item, ...others] = this.#waiting.get(target) ?? [];
    if (item === undefined) return false;
    const payload = this.#readable(item);
    if (payload?.byteLength === item.payload.byteLength) return false;
    const mended = payload === null ? [] : [{ ...item, payload }];
    this.#replace(target, [...mended, ...others]);
    this.#core.write(() => {
      store.deleteOutbox([item.id]);
      for (const each of mended) store.insertOutbox(each);
    });
    return true;
  }

  #replace(target: string, waiting: OutboxItem[]): void {
    if (waiting.length === 0) this.#waiting.delete(target);
    else this.#waiting.set(target, waiting);
  }
}
