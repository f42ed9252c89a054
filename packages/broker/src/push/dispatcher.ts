import {
  isSlotAwaited,
  type Lease,
  nextBatch,
  nextBatchAt,
  pushEnded,
  type RetryOutcome,
  release,
} from "@sluice/engine";
import {
  type ConsumerHealth,
  type DeliveryResult,
  HANDLER_WALL_CLOCK_MS_MAX,
  type NextDelivery,
} from "@sluice/protocol";
import { Backoff } from "../platform/backoff.ts";
import type { DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { metricsOf } from "../turn/figures.ts";
import { type LeaseRecords, readLease } from "../turn/lease-records.ts";
import { isForWorkerDaemon } from "../turn/rules.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { PushDeliverer } from "../why/conditions.ts";
import { Absence, NotCalled } from "./absence.ts";
import { DeliveryRecord, nextDelivery } from "./consumer-health.ts";
import type { ConsumerPort } from "./delivery-result.ts";
import {
  failedResult,
  interruptedResult,
  type RejectedDelivery,
  type Running,
  readResult,
} from "./delivery-result.ts";
import { noteDelivered, noteRetried } from "./note-delivery.ts";
import { BatchSettler, isAcknowledged } from "./settle-batch.ts";

/** A consumer that has not said within this time that it runs is taken for absent, in ms. */
export const PROBE_MS_MAX = 10_000;
/**
 * While messages wait in a queue that nobody consumes its alarm rings this often, in ms. A deployment that gives it a
 * consumer starts no object: the next ring does, with the new code. A ring writes one row.
 */
export const CONSUMER_LOOK_MS = 300_000;

const GONE_DURING_TRIAL = "it had just said that it is back, and was gone before it answered";

export interface DispatcherPorts {
  /** The queue's consumer, `null` if it has none. Asked anew each time: it can change. */
  consumer(): ConsumerPort | null;
  /**
   * Nothing is delivered to it before, in ms: Workers of a process that one of them has ended begin one after the
   * other.
   */
  heldUntilMs(): number;
  /** How long a settlement that nobody waits for may linger for another commit to share, in ms. 0: it does not. */
  readonly lingerMs: number;
}

/** Hands batches to the queue's consumer and settles what it did with them. */
export class PushDispatcher {
  readonly #context: QueueContext;
  readonly #throttle: Throttle;
  readonly #ports: DispatcherPorts;
  readonly #settler: BatchSettler;
  readonly #running = new Map<number, Running>();
  readonly #backoff = new Backoff();
  /** Why the consumer is absent, while it is. */
  #absence: Absence | null = null;
  /** The question that a consumer was asked and has not answered. */
  #probe: { readonly endsMs: number } | null = null;
  /** How often a consumer that had been absent has said that it is back. */
  #returns = 0;
  /** The one delivery that a consumer which is back has to prove itself with: still to come, or its lease. */
  #trial: "due" | number | null = null;
  readonly #record = new DeliveryRecord();

  constructor(
    context: QueueContext,
    { throttle, deadLetters }: { readonly throttle: Throttle; readonly deadLetters: DeadLetters },
    ports: DispatcherPorts,
  ) {
    this.#context = context;
    this.#throttle = throttle;
    this.#ports = ports;
    this.#settler = new BatchSettler(context, deadLetters);
  }

  /** Whether batches can be delivered now: there is a consumer, it answers, it is not held, delivery is not paused. */
  get open(): boolean {
    return this.#isReachable && typeof this.#trial !== "number";
  }

  get #isReachable(): boolean {
    return this.#consumer !== null && !this.#backoff.failing && this.#heldUntilMs === null;
  }

  /** Until when nothing is delivered to the consumer, in ms; `null` if it is not held. */
  get #heldUntilMs(): number | null {
    const untilMs = this.#ports.heldUntilMs();
    return untilMs > this.#context.nowMs ? untilMs : null;
  }

  /** How delivery goes; `null` where nobody is delivered to. Whether it is paused makes no difference. */
  get health(): ConsumerHealth | null {
    if (this.#ports.consumer() === null) return null;
    return {
      isPresent: !this.#backoff.failing,
      inFlight: this.#running.size,
      ...this.#record.read(),
      next: this.#next(),
    };
  }

  /** Consumer that is delivered to, paused or not; `null` without one. */
  get deliverer(): PushDeliverer | null {
    const consumer = this.#ports.consumer();
    if (consumer === null) return null;
    return {
      kind: "push",
      name: consumer.name,
      heldUntilMs: this.#heldUntilMs,
      askedAgainMs: this.#backoff.failing ? (this.#probe?.endsMs ?? this.#backoff.retryAtMs) : null,
      notCalledReason: this.#absence?.kind === "notCalled" ? this.#absence.reason : null,
      trial: typeof this.#trial === "number" ? "running" : this.#trial,
    };
  }

  /** Whether deliveries are running. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** When the next handler has had its time, in ms; `null` when none runs that has not been noticed. */
  get overdueAtMs(): number | null {
    // In the order of their start.
    for (const { isOverdue, startedMs } of this.#running.values()) {
      if (!isOverdue) return startedMs + HANDLER_WALL_CLOCK_MS_MAX;
    }
    return null;
  }

  /**
   * When a consumer that does not answer is asked again, or one that is held may be delivered to, in ms; `null` when
   * nothing waits for it.
   */
  get retryAtMs(): number | null {
    const { queue } = this.#context;
    if (this.#consumer === null || this.#isReachable) return null;
    if (queue.readyCount + queue.delayedCount === 0) return null;
    if (this.#heldUntilMs !== null) return this.#heldUntilMs;
    return this.#probe?.endsMs ?? this.#backoff.retryAtMs;
  }

  /** When the queue looks again whether it has a consumer by now, in ms; `null` when nothing waits for one. */
  get lookAtMs(): number | null {
    const { queue, definition, nowMs } = this.#context;
    const isForPush = definition?.consumer?.type !== "http_pull" && definition?.deliveryPaused !== true;
    if (!isForPush || this.#consumer !== null || isForWorkerDaemon(definition)) return null;
    return queue.readyCount + queue.delayedCount === 0 ? null : nowMs + CONSUMER_LOOK_MS;
  }

  /** Within a turn: leases every batch that is due. */
  takeBatches(nowMs: number): Running[] {
    const consumer = this.#consumer;
    if (consumer === null || !this.#isReachable) return [];
    const taken: { readonly batch: Lease; readonly readable: LeaseRecords }[] = [];
    const { queue } = this.#context;
    const next = () => {
      const room = typeof this.#trial === "number" ? 0 : this.#throttle.room;
      return room > 0 ? nextBatch(queue, nowMs, room) : null;
    };
    for (let batch = next(); batch !== null; batch = next()) {
      this.#throttle.delivered(batch.count);
      const readable = readLease(this.#context, batch);
      if (readable === null) {
        pushEnded(queue, batch, "notRun");
        continue;
      }
      if (this.#trial === "due") this.#trial = batch.leaseId;
      taken.push({ batch, readable });
    }
    if (taken.length === 0) return [];
    // What waits when they leave. Asked for each batch alone, the oldest message would be looked for behind all that
    // the batches before it have leased: measured at 4 % of a backlog of single messages.
    const metrics = metricsOf(queue);
    return taken.map(({ batch: { leaseId }, readable: { batch, packed, firstId } }) => {
      const running: Running = {
        batch,
        consumer,
        delivery: {
          // A consumer may have several brokers, each with a lease of this number; no two have the same message.
          id: `${leaseId} ${firstId}`,
          queue: this.#context.name,
          packed,
          attempts: attemptsOf(batch),
          metrics,
        },
        startedMs: nowMs,
        returns: this.#returns,
        isOverdue: false,
      };
      this.#running.set(leaseId, running);
      noteDelivered(this.#context, running);
      return running;
    });
  }

  /** After the commit: carries the deliveries out, and asks a consumer that did not answer whether it is back. */
  start(deliveries: readonly Running[]): void {
    const { nowMs } = this.#context;
    for (const running of deliveries) void this.#deliver(running);
    for (const running of this.#running.values()) {
      if (nowMs < running.startedMs + HANDLER_WALL_CLOCK_MS_MAX) break;
      if (!running.isOverdue) void this.#interrupt(running);
    }
    const { retryAtMs } = this;
    if (retryAtMs !== null && nowMs >= retryAtMs) void this.#ask();
  }

  /**
   * Within a turn: ends the deliveries whose lease has expired, so that a handler that hangs holds no slot for ever
   * though its consumer does not say what it did.
   */
  leasesExpired(expired: RetryOutcome, nowMs: number): void {
    if (expired.retried.length === 0 && expired.dead.length === 0) return;
    for (const running of this.#running.values()) {
      if (running.batch.expiresMs > nowMs) continue;
      this.#forget(running);
      pushEnded(this.#context.queue, running.batch, "failed");
    }
  }

  /** Consumer that batches go to; `null` without one, or while delivery is paused. */
  get #consumer(): ConsumerPort | null {
    return this.#context.definition?.deliveryPaused === true ? null : this.#ports.consumer();
  }

  async #deliver(running: Running): Promise<void> {
    let result: DeliveryResult | RejectedDelivery | Absence;
    try {
      result = readResult(await running.consumer.deliver(running.delivery));
    } catch (error) {
      result =
        error instanceof NotCalled
          ? Absence.from(error)
          : await this.#resultOfEnded(running, "exception", String(error));
    }
    await this.#end(running, result);
  }

  /** Ends a delivery whose handler has had its time (spec cloudflare-queues 2.5). */
  async #interrupt(running: Running): Promise<void> {
    running.isOverdue = true;
    const reason = `its handler did not finish within ${HANDLER_WALL_CLOCK_MS_MAX / 1000} s`;
    this.#context.log.error(
      `Queue "${this.#context.name}": the handler of "${running.consumer.name}" did not finish within ` +
        `${HANDLER_WALL_CLOCK_MS_MAX / 1000} s; what it had not settled is retried`,
    );
    await this.#end(running, await this.#resultOfEnded(running, "exceededWallTime", reason));
  }

  /** The result of a handler that has none, with what it had called; an absence when its Worker is not there. */
  async #resultOfEnded(
    { consumer, delivery }: Running,
    outcome: string,
    reason: string,
  ): Promise<DeliveryResult | Absence> {
    try {
      return interruptedResult(outcome, reason, await consumer.callsOf(delivery.id));
    } catch {
      return Absence.from(reason);
    }
  }

  async #end(running: Running, result: DeliveryResult | RejectedDelivery | Absence): Promise<void> {
    const { log, name, nowMs } = this.#context;
    const urgency = this.#canLinger(running, result) ? "deferred" : "now";
    try {
      await this.#context.submit(() => this.#settle(running, result, nowMs), urgency);
    } catch (error) {
      // Its messages are leased and its slot is taken: a restart ends both, and the messages are delivered again.
      log.error(`Queue "${name}": a delivery could not be settled: ${error}`);
      this.#context.broken(error);
    }
  }

  /**
   * Whether a settlement can linger for a commit to share: it only deletes what is handled, and nobody waits for the
   * slot. What makes another batch due before the linger is over makes a turn, but for the time.
   */
  #canLinger({ batch }: Running, result: DeliveryResult | RejectedDelivery | Absence): boolean {
    const { queue, nowMs } = this.#context;
    if (result instanceof Absence || !isAcknowledged(result)) return false;
    if (this.#trial === batch.leaseId || this.#throttle.isOn) return false;
    return !isSlotAwaited(queue, nowMs + 2 * this.#ports.lingerMs);
  }

  #settle(running: Running, result: DeliveryResult | RejectedDelivery | Absence, endedMs: number): void {
    const isTrial = this.#trial === running.batch.leaseId;
    // A delivery that ran too long has ended: its slot is free and its messages are with somebody else.
    if (!this.#forget(running)) return;
    this.#record.ended(endedMs, failureOf(result));
    const tookMs = endedMs - running.startedMs;
    if (result instanceof Absence) {
      if (isTrial) this.#settler.settle(running, failedResult(GONE_DURING_TRIAL), tookMs);
      else this.#release(running, result.reason);
      this.#noteAbsence(running, result);
    } else {
      this.#trial = null;
      this.#settler.settle(running, result, tookMs);
    }
  }

  #next(): NextDelivery | null {
    const { retryAtMs, open } = this;
    if (retryAtMs !== null) return { waitsFor: "return", atMs: retryAtMs };
    if (!open) return null;
    const { queue, nowMs } = this.#context;
    return nextDelivery(this.#throttle, nowMs, nextBatchAt(queue));
  }

  /** Whether it was still running. */
  #forget({ batch }: Running): boolean {
    if (this.#trial === batch.leaseId) this.#trial = null;
    return this.#running.delete(batch.leaseId);
  }

  /** Nobody ran the batch: its messages are released uncounted. */
  #release(running: Running, why: string): void {
    const { queue, nowMs } = this.#context;
    const { batch } = running;
    noteRetried(this.#context, running, batch.slices, { ms: 0, reason: "absence", why });
    for (const slice of batch.slices) release(queue, { ...slice, leaseId: batch.leaseId }, nowMs, nowMs);
    pushEnded(queue, batch, "notRun");
  }

  /** The consumer of a delivery is not there: it is asked before the next lease. */
  #noteAbsence(running: Running, absence: Absence): void {
    // A call that began before the consumer said that it is back tells nothing about it any more.
    if (!this.#backoff.failing && running.returns === this.#returns) {
      this.#announce(running.consumer, absence);
      this.#backoff.failed(this.#context.nowMs);
    }
  }

  #announce({ name }: ConsumerPort, absence: Absence): void {
    this.#absence = absence;
    const line = `Queue "${this.#context.name}": its consumer "${name}" ${absence.announcement()}`;
    this.#context.log[absence.kind === "notCalled" ? "error" : "warn"](line);
  }

  /** Says of an absent consumer that is asked in vain why, where that has changed. */
  #askedInVain(consumer: ConsumerPort, absence: Absence): void {
    const known = this.#absence;
    const isKnown =
      absence.kind === "notCalled" ? absence.reason === known?.reason : known?.kind !== "notCalled";
    if (!isKnown) this.#announce(consumer, absence);
  }

  async #ask(): Promise<void> {
    const consumer = this.#consumer;
    if (consumer === null) return;
    if (this.#probe !== null) this.#backoff.failed(this.#context.nowMs);
    const probe = { endsMs: this.#context.nowMs + PROBE_MS_MAX };
    this.#probe = probe;
    const absence = await consumer.ping().then(() => null, Absence.from);
    if (this.#probe !== probe) return;
    this.#probe = null;
    if (absence === null) {
      this.#absence = null;
      this.#returns += 1;
      this.#backoff.succeeded();
      this.#trial = consumer.returnsOnTrial === true ? "due" : null;
      this.#context.log.info(
        `Queue "${this.#context.name}": its consumer "${consumer.name}" is running again`,
      );
      void this.#context.wake();
    } else {
      this.#askedInVain(consumer, absence);
      this.#backoff.failed(this.#context.nowMs);
      this.#context.rearm();
    }
  }
}

function failureOf(result: DeliveryResult | RejectedDelivery | Absence): string | null {
  if (result instanceof Absence) return result.failure();
  if ("rejected" in result) return result.rejected;
  return result.outcome === "ok" ? null : (result.error ?? result.outcome);
}

function attemptsOf(batch: Lease): number | number[] {
  const [first] = batch.slices;
  if (first !== undefined && batch.slices.every((slice) => slice.attempts === first.attempts))
    return first.attempts;
  return batch.slices.flatMap((slice) => Array<number>(slice.to - slice.from).fill(slice.attempts));
}
