import {
  acknowledge,
  type Lease,
  nextBatch,
  pushEnded,
  type RetryOutcome,
  release,
  type Slice,
} from "@sluice/engine";
import { type DeliveryResult, joinPacked } from "@sluice/protocol";
import { Backoff } from "./backoff.ts";
import { failedResult, readResult } from "./delivery-result.ts";
import type { ConsumerPort } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";
import { type RecordRange, readableRanges } from "./readable.ts";
import type { Running } from "./running.ts";
import { settleBatch } from "./settle-batch.ts";

/** A consumer that has not said within this time that it runs is taken for absent, in ms. */
export const PROBE_MS_MAX = 10_000;

/** Hands batches to the queue's consumer and settles what it did with them. */
export class PushDispatcher {
  readonly #core: QueueCore;
  readonly #running = new Map<number, Running>();
  readonly #backoff = new Backoff();
  /** The question that a consumer was asked and has not answered. */
  #probe: { readonly endsMs: number } | null = null;

  constructor(core: QueueCore) {
    this.#core = core;
  }

  /** Whether batches can be delivered now: there is a consumer, and it answers. */
  get open(): boolean {
    return this.#consumer !== null && !this.#backoff.failing;
  }

  /** Whether deliveries are running. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** When a consumer that does not answer is asked again, in ms; `null` when nothing waits for it. */
  get retryAtMs(): number | null {
    const { queue } = this.#core;
    if (this.#consumer === null || !this.#backoff.failing) return null;
    if (queue.readyCount + queue.delayedCount === 0) return null;
    return this.#probe?.endsMs ?? this.#backoff.retryAtMs;
  }

  /** Within a turn: leases every batch that is due. */
  takeBatches(nowMs: number): Running[] {
    const consumer = this.#consumer;
    if (consumer === null || this.#backoff.failing) return [];
    const taken: Running[] = [];
    for (
      let batch = nextBatch(this.#core.queue, nowMs);
      batch !== null;
      batch = nextBatch(this.#core.queue, nowMs)
    ) {
      const readable = this.#read(batch);
      if (readable === null) {
        pushEnded(this.#core.queue, batch, "notRun");
        continue;
      }
      const running = {
        batch: readable.batch,
        consumer,
        delivery: {
          queue: this.#core.name,
          packed: readable.packed,
          attempts: attemptsOf(readable.batch),
          metrics: this.#core.metrics(),
        },
        startedMs: nowMs,
      };
      this.#running.set(batch.leaseId, running);
      taken.push(running);
    }
    return taken;
  }

  /** After the commit: carries the deliveries out, and asks a consumer that did not answer whether it is back. */
  start(deliveries: readonly Running[]): void {
    for (const running of deliveries) void this.#deliver(running);
    const { retryAtMs } = this;
    if (retryAtMs !== null && this.#core.nowMs >= retryAtMs) void this.#ask();
  }

  /** Within a turn: ends the deliveries whose lease has expired, so that a handler that hangs holds no slot for ever. */
  noteLapsed(lapsed: RetryOutcome, nowMs: number): void {
    if (lapsed.retried.length === 0 && lapsed.dead.length === 0) return;
    for (const [leaseId, running] of this.#running) {
      if (running.batch.expiresMs > nowMs) continue;
      this.#running.delete(leaseId);
      pushEnded(this.#core.queue, running.batch, "failed");
      this.#core.ports.log.error(
        `Queue "${this.#core.name}": the handler of "${running.consumer.name}" did not finish within ` +
          `${(nowMs - running.startedMs) / 1000} s; what it had not settled is retried`,
      );
    }
  }

  get #consumer(): ConsumerPort | null {
    return this.#core.ports.consumerOf(this.#core.name);
  }

  async #deliver(running: Running): Promise<void> {
    const { ports } = this.#core;
    let result: DeliveryResult | "absent";
    try {
      result = readResult(await running.consumer.deliver(running.delivery));
    } catch (error) {
      result = (await this.#answers(running.consumer)) ? failedResult(String(error)) : "absent";
    }
    try {
      await this.#core.submit(() => this.#settle(running, result));
    } catch (error) {
      // Its messages are leased and its slot is taken: a restart ends both, and the messages are delivered again.
      ports.log.error(`Queue "${this.#core.name}": a delivery could not be settled: ${error}`);
      ports.broken(error);
    }
  }

  #settle(running: Running, result: DeliveryResult | "absent"): void {
    // A delivery that ran too long was ended by `noteLapsed`: its slot is free and its messages are with somebody else.
    if (!this.#running.delete(running.batch.leaseId)) return;
    if (result === "absent") this.#giveBack(running);
    else settleBatch(this.#core, running, result);
  }

  /** Nobody ran the batch: its messages go back uncounted, and the consumer is asked before the next lease. */
  #giveBack(running: Running): void {
    const { queue, nowMs, ports, name } = this.#core;
    const { batch } = running;
    for (const slice of batch.slices) release(queue, { ...slice, leaseId: batch.leaseId }, nowMs, nowMs);
    pushEnded(queue, batch, "notRun");
    if (!this.#backoff.failing) {
      ports.log.warn(
        `Queue "${name}": its consumer "${running.consumer.name}" is not running, its messages wait`,
      );
      this.#backoff.failed(nowMs);
    }
  }

  async #ask(): Promise<void> {
    const consumer = this.#consumer;
    if (consumer === null) return;
    if (this.#probe !== null) this.#backoff.failed(this.#core.nowMs);
    const probe = { endsMs: this.#core.nowMs + PROBE_MS_MAX };
    this.#probe = probe;
    const answers = await this.#answers(consumer);
    if (this.#probe !== probe) return;
    this.#probe = null;
    if (answers) {
      this.#backoff.succeeded();
      this.#core.ports.log.info(
        `Queue "${this.#core.name}": its consumer "${consumer.name}" is running again`,
      );
      this.#core.wakeUp();
    } else {
      this.#backoff.failed(this.#core.nowMs);
      this.#core.arm();
    }
  }

  async #answers(consumer: ConsumerPort): Promise<boolean> {
    try {
      await consumer.ping();
      return true;
    } catch {
      return false;
    }
  }

  /** The records of a batch, joined, and the part of it that they are of; `null` when none of them can be read. */
  #read(batch: Lease): { batch: Lease; packed: Uint8Array } | null {
    const slices: Slice[] = [];
    const parts: Uint8Array[] = [];
    let { count } = batch;
    for (const slice of batch.slices) {
      try {
        const payload = this.#core.payloadOf(slice.segmentId);
        const ranges = readableRanges(payload, slice.from, slice.to);
        parts.push(...ranges.map(({ from, to }) => payload.records(from, to)));
        slices.push(...ranges.map((range) => ({ ...slice, ...range })));
        count -= this.#giveUp(batch, slice, ranges, "their bytes are not what was stored");
      } catch (error) {
        count -= this.#giveUp(batch, slice, [], error);
      }
    }
    const [only] = parts;
    if (only === undefined) return null;
    // A view would take its whole buffer along when it is serialised for the call.
    const isView = parts.length === 1 && only.byteLength !== only.buffer.byteLength;
    return { batch: { ...batch, slices, count }, packed: isView ? only.slice() : joinPacked(parts) };
  }

  /** Takes messages of a slice out of the queue that are not in the ranges which can be read. Answers how many. */
  #giveUp(batch: Lease, slice: Slice, readable: readonly RecordRange[], reason: unknown): number {
    const { queue } = this.#core;
    let lost = 0;
    let from = slice.from;
    for (const next of [...readable, { from: slice.to, to: slice.to }]) {
      const gap = { segmentId: slice.segmentId, from, to: next.from, leaseId: batch.leaseId };
      if (gap.from < gap.to) lost += acknowledge(queue, gap);
      from = next.to;
    }
    if (lost > 0) this.#core.messagesLost(slice.segmentId, lost, reason);
    return lost;
  }
}

function attemptsOf(batch: Lease): number | number[] {
  const [first] = batch.slices;
  if (first !== undefined && batch.slices.every((slice) => slice.attempts === first.attempts))
    return first.attempts;
  return batch.slices.flatMap((slice) => Array<number>(slice.to - slice.from).fill(slice.attempts));
}
