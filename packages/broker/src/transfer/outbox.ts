import { joinPacked, PackedIndex, type PendingHandOver, shardOf } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { Backoff } from "../platform/backoff.ts";
import type { Transfer, TransferReply } from "../rpc/transfer.ts";
import { SEGMENT_BYTES_MAX } from "../send/accepted-batch.ts";
import { passSource, passTarget, readPassTarget } from "../shards/passed-on.ts";
import { isStorable, readableRanges } from "../store/readable.ts";
import type { OutboxItem } from "../store/store.ts";
import type { QueueContext } from "../turn/context.ts";
import { joinOwned } from "../turn/lease-records.ts";

/**
 * Longest time that a transfer waits for its answer, in ms, before it is tried again: one that never ends would keep
 * everything behind it. The target recognises an item that arrives twice by its id.
 */
export const TRANSFER_MS_MAX = 30_000;

/**
 * Most items and bytes of one call to a target, and of one commit there; a first item may have more bytes. Calls join
 * items, because each commit of a busy queue makes a small one.
 */
export const TRANSFER_ITEMS_MAX = 200;
export const TRANSFER_BYTES_MAX = 1_000_000;

export interface OutboxPorts {
  /** Hands messages to another queue and resolves when it has committed them. `undefined` confirms the first item. */
  transfer(target: string, transfer: Transfer): Promise<TransferReply | undefined>;
}

/** Calls to a target in progress. */
interface Call {
  /** Time in ms at which the transfer is given up; Infinity while its end is being committed. */
  endsMs: number;
}

/**
 * Messages on their way to other queues. The commit that removes them from this queue stores them here. They are
 * transferred in order for each target, many at a time, and deleted when the target has committed. A crash repeats the
 * transfer, and the target recognises each item by its id.
 */
export class Outbox {
  readonly #context: QueueContext;
  readonly #ports: OutboxPorts;
  readonly #waiting = new Map<string, OutboxItem[]>();
  readonly #running = new Map<string, Call>();
  readonly #backoffs = new Map<string, Backoff>();
  #nextId: number;

  /** @param firstId larger than any of an earlier epoch. */
  constructor(context: QueueContext, ports: OutboxPorts, firstId: number) {
    this.#context = context;
    this.#ports = ports;
    this.#nextId = firstId;
  }

  /** The id of the next item. */
  get nextId(): number {
    return this.#nextId;
  }

  /** Reads the items of earlier epochs without unreadable records, which would keep the records behind them. */
  load(): void {
    const { store } = this.#context;
    for (const item of store.outbox()) {
      const payload = this.#readable(item);
      if (payload === null) this.#context.write(() => store.deleteOutbox([item.id]));
      else this.#enqueue({ ...item, payload });
    }
  }

  /** Joins the readable records of an item; `null` if there are none. The others are reported as lost. */
  #readable({ target, payload }: OutboxItem): Uint8Array | null {
    const { damage } = this.#context;
    try {
      const index = new PackedIndex(payload);
      const ranges = readableRanges(index, 0, index.count, isStorable);
      const lost = index.count - ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      if (lost > 0) {
        const are = lost === 1 ? "is" : "are";
        damage.note(
          "messagesLost",
          lost,
          `${plural(lost, "message")} for queue "${target}" ${are} damaged and lost`,
        );
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

  /** Whether transfers are under way. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether all items have arrived. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Whether anything waits that is not passed on between shards of the queue. */
  get hasOwn(): boolean {
    return [...this.#waiting.keys()].some((target) => readPassTarget(target).origin === null);
  }

  /** Whether messages are on their way to shards of the queue from this number on. */
  passesOnTo(first: number): boolean {
    return [...this.#waiting.keys()].some((target) => {
      const { object, origin } = readPassTarget(target);
      return origin !== null && shardOf(object).shard >= first;
    });
  }

  /** Whether an object takes nothing at present, or a whole call of messages waits for it. */
  isBehind(object: string): boolean {
    let bytes = 0;
    for (const [target, items] of this.#waiting) {
      if (readPassTarget(target).object !== object) continue;
      if (this.#backoffs.get(target)?.failing === true) return true;
      for (const { payload } of items) bytes += payload.byteLength;
    }
    return bytes >= TRANSFER_BYTES_MAX;
  }

  /** Lists the messages that have not arrived, by the queues that they are for, for people. */
  describe(): PendingHandOver[] {
    const shown = new Map<string, PendingHandOver>();
    for (const [key, items] of this.#waiting) {
      const target = shardOf(readPassTarget(key).object).queue;
      const backoff = this.#running.has(key) ? undefined : this.#backoffs.get(key);
      const retryAtMs = backoff?.failing === true ? backoff.retryAtMs : null;
      const own = items.reduce((sum, { payload }) => sum + new PackedIndex(payload).count, 0);
      const { messages = 0, retryAtMs: otherMs = retryAtMs } = shown.get(target) ?? {};
      const isUnderWay = retryAtMs === null || otherMs === null;
      shown.set(target, {
        target,
        messages: messages + own,
        retryAtMs: isUnderWay ? null : Math.min(retryAtMs, otherMs),
      });
    }
    return [...shown.values()];
  }

  /** Within a turn: adds records for `target`, in as few items as possible. */
  put(target: string, records: readonly Uint8Array[]): void {
    for (const part of inParts(records)) {
      const item = { id: this.#nextId++, target, payload: joinPacked(part) };
      this.#context.write(() => this.#context.store.insertOutbox(item));
      this.#enqueue(item);
    }
  }

  /** Within a turn: adds records for the object of another shard, which takes them as from `origin`. */
  passOn(object: string, origin: string, records: readonly Uint8Array[]): void {
    this.put(passTarget(object, origin), records);
  }

  /** Time in ms at which a transfer is due, `null` if none waits. */
  get retryAtMs(): number | null {
    if (this.#waiting.size === 0) return null;
    const waits = [...this.#waiting.keys()]
      .filter((target) => !this.#running.has(target))
      .map((target) => this.#backoffs.get(target))
      .map((backoff) => (backoff?.failing === true ? backoff.retryAtMs : this.#context.nowMs));
    return waits.length === 0 ? null : Math.min(...waits);
  }

  /** After a commit: begins transfers to targets without one, and ends those that took too long. */
  start(): void {
    for (const [target, { endsMs }] of this.#running) {
      if (this.#context.nowMs >= endsMs)
        this.#failed(target, `it cannot be reached: no answer within ${TRANSFER_MS_MAX / 1000} s`);
    }
    for (const target of this.#waiting.keys()) {
      const backoff = this.#backoffs.get(target);
      if (backoff?.failing === true && this.#context.nowMs < backoff.retryAtMs) continue;
      if (!this.#running.has(target)) void this.#transfer(target);
    }
  }

  #enqueue(item: OutboxItem): void {
    const waiting = this.#waiting.get(item.target);
    if (waiting === undefined) this.#waiting.set(item.target, [item]);
    else waiting.push(item);
  }

  async #transfer(target: string): Promise<void> {
    const { object, origin } = readPassTarget(target);
    const call: Call = { endsMs: 0 };
    this.#running.set(target, call);
    try {
      // A target of an earlier build confirms nothing, and takes only the first item of a call.
      let itemsMax = TRANSFER_ITEMS_MAX;
      for (let items = this.#next(target, itemsMax); items !== null; items = this.#next(target, itemsMax)) {
        call.endsMs = this.#context.nowMs + TRANSFER_MS_MAX;
        const from = this.#sender(origin);
        const reply = await this.#ports.transfer(object, { ...from, ...items });
        if (this.#running.get(target) !== call) return;
        call.endsMs = Infinity;
        if (reply === undefined) itemsMax = 1;
        const { takenTo, refused } = reply ?? { takenTo: items.id, refused: null };
        const goesOn = await this.#context.submit(() => this.#settle(target, takenTo, refused !== null));
        if (!goesOn) {
          this.#failed(target, `it does not take them: ${refused}`);
          this.#context.rearm();
          return;
        }
      }
    } catch (error) {
      if (this.#running.get(target) !== call) return;
      this.#failed(target, `it cannot be reached: ${error}`);
      this.#context.rearm();
      return;
    }
    this.#backoffs.delete(target);
    this.#running.delete(target);
    this.#context.rearm();
  }

  /** Names this object in a transfer. @param origin of messages that are passed on; `null` for its own. */
  #sender(origin: string | null): Pick<Transfer, "source" | "epoch"> {
    const { name, shardMap } = this.#context;
    if (origin === null) return { source: name };
    return { source: passSource(origin, name), ...(shardMap === undefined ? {} : { epoch: shardMap.epoch }) };
  }

  /** Ends the transfers to a target, until its backoff is over. */
  #failed(target: string, reason: string): void {
    const { log, name, nowMs } = this.#context;
    const { object } = readPassTarget(target);
    const backoff = this.#backoffs.get(target) ?? new Backoff();
    this.#backoffs.set(target, backoff);
    backoff.failed(nowMs);
    this.#running.delete(target);
    log.error(`Queue "${name}": messages for queue "${object}" wait, ${reason}`);
  }

  /** Makes the next call to a target; `null` when nothing waits for it. */
  #next(target: string, itemsMax: number): Omit<Transfer, "source"> | null {
    const [first, ...others] = this.#waiting.get(target)?.slice(0, itemsMax) ?? [];
    if (first === undefined) return null;
    let bytes = first.payload.byteLength;
    const fits = ({ payload }: OutboxItem) => {
      bytes += payload.byteLength;
      return bytes <= TRANSFER_BYTES_MAX;
    };
    const end = others.findIndex((item) => !fits(item));
    const more = end === -1 ? others : others.slice(0, end);
    return {
      id: first.id,
      packed: first.payload,
      more: more.map(({ id, payload }) => ({ id, packed: payload })),
    };
  }

  /** Within a turn: settles the answer of a target. @returns whether fewer messages wait for it. */
  #settle(target: string, takenTo: number, isRefused: boolean): boolean {
    const isTaken = this.#confirmed(target, takenTo);
    return isRefused ? this.#repair(target) || isTaken : isTaken;
  }

  /** Deletes every item up to `takenTo`. @returns whether there was any. */
  #confirmed(target: string, takenTo: number): boolean {
    const waiting = this.#waiting.get(target) ?? [];
    const end = waiting.findIndex(({ id }) => id > takenTo);
    const taken = end === -1 ? waiting : waiting.slice(0, end);
    if (taken.length === 0) return false;
    this.#replace(target, waiting.slice(taken.length));
    this.#context.write(() => this.#context.store.deleteOutbox(taken.map(({ id }) => id)));
    return true;
  }

  /**
   * Removes damaged records from the first item, which its target refused, so that it does not keep those behind it. An
   * item that this build can read stays as it is: the target may be of another build, and waiting loses nothing.
   *
   * @returns whether any were removed.
   */
  #repair(target: string): boolean {
    const { store } = this.#context;
    const [item, ...others] = this.#waiting.get(target) ?? [];
    if (item === undefined) return false;
    const payload = this.#readable(item);
    if (payload?.byteLength === item.payload.byteLength) return false;
    const repaired = payload === null ? [] : [{ ...item, payload }];
    this.#replace(target, [...repaired, ...others]);
    this.#context.write(() => {
      store.deleteOutbox([item.id]);
      for (const each of repaired) store.insertOutbox(each);
    });
    return true;
  }

  #replace(target: string, waiting: OutboxItem[]): void {
    if (waiting.length === 0) this.#waiting.delete(target);
    else this.#waiting.set(target, waiting);
  }
}

/** Groups records so that each group fits into one stored value. */
function inParts(records: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let bytes = Infinity;
  for (const record of records) {
    if (bytes + record.byteLength > SEGMENT_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(record);
    bytes += record.byteLength;
  }
  return parts;
}
