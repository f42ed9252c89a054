import { joinPacked, PackedIndex, type PendingHandOver } from "@sluice/protocol";
import { Backoff } from "./backoff.ts";
import type { QueueCore } from "./queue-core.ts";
import { readableRanges } from "./readable.ts";
import { DamagedRowError, type OutboxItem } from "./store.ts";

/**
 * A hand-over that was not answered within this time has failed and is tried again, in ms: one that never ends would keep
 * everything behind it. Should it arrive after all, the target has taken its id by then.
 */
export const HAND_OVER_MS_MAX = 30_000;

/** A target that is being handed over to. */
interface Call {
  /** When the hand-over under way is given up, in ms; Infinity while its end is being committed. */
  endsMs: number;
}

/**
 * Messages on their way to other queues. They were written in the commit that took them out of this one; they are handed
 * over afterwards, in order for each target, and deleted when the target has committed. A crash in between repeats the
 * hand-over, and the target recognises it by its id.
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
      if (payload === null) this.#core.write(() => store.deleteOutbox(item.id));
      else this.#enqueue({ ...item, payload });
    }
  }

  /** The records of an item that can be read, `null` if none can. The others are reported as lost. */
  #readable({ target, payload }: OutboxItem): Uint8Array | null {
    const { damage } = this.#core;
    try {
      const index = new PackedIndex(payload);
      const ranges = readableRanges(index, 0, index.count);
      const lost = index.count - ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      if (lost > 0) {
        damage.note("messagesLost", lost, `${lost} message(s) for queue "${target}" are damaged and lost`);
      } else if (ranges.length === 0) {
        damage.note("messagesLost", null, `messages for queue "${target}" are damaged and lost`);
      }
      if (ranges.length === 0) return null;
      return joinPacked(ranges.map(({ from, to }) => index.records(from, to)));
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
    const waits = [...this.#waiting.keys()]
      .filter((target) => !this.#running.has(target))
      .map((target) => this.#backoffs.get(target))
      .map((backoff) => (backoff?.failing === true ? backoff.retryAtMs : this.#core.nowMs));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** After a commit: hands over what waits for targets that nobody is handing over to. */
  start(): void {
    for (const [target, { endsMs }] of this.#running) {
      if (this.#core.nowMs >= endsMs) this.#failed(target, `no answer within ${HAND_OVER_MS_MAX / 1000} s`);
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
      for (let item = this.#first(target); item !== undefined; item = this.#first(target)) {
        const { id, payload } = item;
        call.endsMs = this.#core.nowMs + HAND_OVER_MS_MAX;
        await ports.handOver(target, { source: name, id, packed: payload });
        if (this.#running.get(target) !== call) return;
        call.endsMs = Infinity;
        await this.#core.submit(() => {
          this.#drop(target);
          this.#core.write(() => ports.store.deleteOutbox(id));
        });
      }
    } catch (error) {
      if (this.#running.get(target) !== call) return;
      this.#failed(target, error);
      this.#core.arm();
      return;
    }
    this.#backoffs.delete(target);
    this.#running.delete(target);
    this.#core.arm();
  }

  /** Ends the hand-overs to a target for now: what waits for it is tried again later. */
  #failed(target: string, reason: unknown): void {
    const { ports, name, nowMs } = this.#core;
    const backoff = this.#backoffs.get(target) ?? new Backoff();
    this.#backoffs.set(target, backoff);
    backoff.failed(nowMs);
    this.#running.delete(target);
    ports.log.error(`Queue "${name}": messages for queue "${target}" wait, it cannot be reached: ${reason}`);
  }

  #first(target: string): OutboxItem | undefined {
    return this.#waiting.get(target)?.[0];
  }

  #drop(target: string): void {
    const waiting = this.#waiting.get(target);
    waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(target);
  }
}
