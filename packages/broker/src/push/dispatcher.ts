import {
  forgetConcurrency,
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
import type { Alerts } from "../alerts/alerts.ts";
import type { DeadLetters } from "../transfer/dead-letters.ts";
import type { QueueContext } from "../turn/context.ts";
import { metricsOf } from "../turn/figures.ts";
import type { Urgency } from "../turn/group-commit.ts";
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
import { noteDelivered, noteFaulted, noteRetried } from "./note-delivery.ts";
import { ConsumerPresence } from "./presence.ts";
import { firstRetryReason } from "./retry-reasons.ts";
import { BatchSettler, isAcknowledged } from "./settle-batch.ts";

/**
 * Interval of alarms while messages wait in a queue without a consumer, in ms. A deployment that adds a consumer starts
 * no object; the next alarm does, with the new code. An alarm writes one row.
 */
export const CONSUMER_LOOK_MS = 300_000;

const GONE_DURING_TRIAL = "it had just said that it is back, and was gone before it answered";
const LEASE_ENDED = "its lease has ended";

export interface DispatcherPorts {
  /** Returns the queue's consumer, `null` if it has none. Called for each use, because it can change. */
  consumer(): ConsumerPort | null;
  /** Time in ms before which nothing is delivered: after a crash of their process Workers begin one after the other. */
  heldUntilMs(): number;
  /** Longest time that a settlement lingers for another commit to share, in ms; 0 for none. */
  readonly lingerMs: number;
  /** Longest time until the alarm rings while a delivery runs, in ms. */
  readonly heartbeatMs: number;
  /**
   * Whether the alarm rings within `heartbeatMs` anyway, so that a settlement may wait for it instead of a timer, for
   * which the object would stay awake. Default: no.
   */
  ringsSoon?(): boolean;
}

interface DispatcherParts {
  readonly throttle: Throttle;
  readonly deadLetters: DeadLetters;
  readonly alerts: Alerts;
}

/** Delivers batches to the queue's consumer, and settles its results. */
export class PushDispatcher {
  readonly #context: QueueContext;
  readonly #throttle: Throttle;
  readonly #ports: DispatcherPorts;
  readonly #settler: BatchSettler;
  readonly #alerts: Alerts;
  readonly #running = new Map<number, Running>();
  /** Leases of deliveries that have ended and whose settlement waits for the alarm. */
  readonly #ended = new Set<number>();
  readonly #presence: ConsumerPresence;
  #record: DeliveryRecord;

  constructor(
    context: QueueContext,
    { throttle, deadLetters, alerts }: DispatcherParts,
    ports: DispatcherPorts,
  ) {
    this.#context = context;
    this.#throttle = throttle;
    this.#ports = ports;
    this.#settler = new BatchSettler(context, deadLetters);
    this.#alerts = alerts;
    this.#presence = new ConsumerPresence(context);
    this.#record = this.#newRecord();
  }

  /** Within a turn: takes a change of the consumer. Deliveries to the one before go on, and say nothing about it. */
  consumerReplaced(): void {
    forgetConcurrency(this.#context.queue);
    this.#presence.replaced();
    this.#record = this.#newRecord();
  }

  /** Whether batches can be delivered now: there is a consumer, it answers, it is not held, delivery is not paused. */
  get open(): boolean {
    return this.#isReachable && this.#presence.trial !== "running";
  }

  get #isReachable(): boolean {
    return this.#consumer !== null && !this.#presence.isAbsent && this.#heldUntilMs === null;
  }

  /** Time in ms before which nothing is delivered to the consumer; `null` if it is not held. */
  get #heldUntilMs(): number | null {
    const untilMs = this.#ports.heldUntilMs();
    return untilMs > this.#context.nowMs ? untilMs : null;
  }

  /** Health of the consumer, paused or not; `null` without one. */
  get health(): ConsumerHealth | null {
    if (this.#ports.consumer() === null) return null;
    return {
      isPresent: !this.#presence.isAbsent,
      inFlight: this.#running.size,
      ...this.#record.read(),
      next: this.#next(),
    };
  }

  /** Consumer that is delivered to, paused or not; `null` without one. */
  get deliverer(): PushDeliverer | null {
    const consumer = this.#ports.consumer();
    if (consumer === null) return null;
    const { isAbsent, probedAtMs, notCalledReason, trial } = this.#presence;
    return {
      kind: "push",
      name: consumer.name,
      heldUntilMs: this.#heldUntilMs,
      askedAgainMs: isAbsent ? probedAtMs : null,
      notCalledReason,
      trial,
    };
  }

  /** Whether deliveries are running. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether any of them keeps the object awake. */
  get isAwake(): boolean {
    return this.#running.size > this.#ended.size;
  }

  /** Time in ms at which the next handler is overdue; `null` if none will be. */
  get overdueAtMs(): number | null {
    // Deliveries are in the order of their start.
    for (const { isOverdue, startedMs } of this.#running.values()) {
      if (!isOverdue) return startedMs + HANDLER_WALL_CLOCK_MS_MAX;
    }
    return null;
  }

  /** Time in ms at which an absent consumer is probed, or a held one gets messages; `null` when none wait for it. */
  get retryAtMs(): number | null {
    const { queue } = this.#context;
    if (this.#consumer === null || this.#isReachable) return null;
    if (queue.readyCount + queue.delayedCount === 0) return null;
    if (this.#heldUntilMs !== null) return this.#heldUntilMs;
    return this.#presence.probedAtMs;
  }

  /** Time in ms at which a queue without a consumer looks for one; `null` when no messages wait for it. */
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
      const room = this.#presence.trial === "running" ? 0 : this.#throttle.room;
      return room > 0 ? nextBatch(queue, nowMs, room) : null;
    };
    for (let batch = next(); batch !== null; batch = next()) {
      this.#throttle.delivered(batch.count);
      const readable = readLease(this.#context, batch);
      if (readable === null) {
        pushEnded(queue, batch, "notRun");
        continue;
      }
      this.#presence.leased(batch.leaseId);
      taken.push({ batch, readable });
    }
    if (taken.length === 0) return [];
    // Computed once for all batches: for each alone, the search for the oldest message would pass those that earlier
    // batches have leased, measured at 4 % of a backlog of single messages.
    const metrics = metricsOf(queue);
    const logs = this.#context.history.takesLogs ? { logs: true } : {};
    return taken.map(({ batch: { leaseId }, readable: { batch, packed, firstId } }) => {
      const trace = this.#context.traces?.delivered(
        leaseId,
        packed,
        consumer.name,
        batch.slices[0]?.attempts ?? 1,
      );
      const running: Running = {
        batch,
        consumer,
        delivery: {
          // A consumer may have several brokers with the same lease numbers, but none with the same message.
          id: `${leaseId} ${firstId}`,
          queue: this.#context.queueName,
          packed,
          attempts: attemptsOf(batch),
          metrics,
          ...logs,
          ...(trace === undefined ? {} : { trace }),
        },
        startedMs: nowMs,
        returns: this.#presence.returns,
        record: this.#record,
        isOverdue: false,
      };
      this.#running.set(leaseId, running);
      noteDelivered(this.#context, running);
      return running;
    });
  }

  /** After the commit: begins the deliveries, interrupts overdue ones, and probes an absent consumer. */
  start(deliveries: readonly Running[]): void {
    const { nowMs } = this.#context;
    for (const running of deliveries) void this.#deliver(running);
    for (const running of this.#running.values()) {
      if (nowMs < running.startedMs + HANDLER_WALL_CLOCK_MS_MAX) break;
      if (!running.isOverdue) void this.#interrupt(running);
    }
    const { retryAtMs } = this;
    if (retryAtMs === null || nowMs < retryAtMs) return;
    const consumer = this.#consumer;
    if (consumer !== null) void this.#presence.probe(consumer);
  }

  /** Within a turn: ends deliveries with expired leases, so that a handler that hangs holds no slot for ever. */
  leasesExpired(expired: RetryOutcome, nowMs: number): void {
    if (expired.retried.length === 0 && expired.dead.length === 0) return;
    for (const running of this.#running.values()) {
      if (running.batch.expiresMs > nowMs) continue;
      this.#forget(running);
      const { batch, startedMs, record } = running;
      this.#context.traces?.ended(batch.leaseId, {
        tookMs: nowMs - startedMs,
        acked: 0,
        failure: LEASE_ENDED,
      });
      this.#alerts.delivered(LEASE_ENDED);
      record.ended(nowMs, LEASE_ENDED, { acked: 0, messages: batch.count });
      pushEnded(this.#context.queue, running.batch, "failed");
    }
  }

  /** Notes in the history that a fault acts on a delivery. Resolves when that is durable. */
  noteFault(deliveryId: string, text: string): Promise<void> {
    return this.#context.submit(() => {
      const running = [...this.#running.values()].find(({ delivery }) => delivery.id === deliveryId);
      if (running !== undefined) noteFaulted(this.#context, running, text);
    });
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

  /** Ends a delivery whose handler is overdue (spec cloudflare-queues 2.5). */
  async #interrupt(running: Running): Promise<void> {
    running.isOverdue = true;
    const reason = `its handler did not finish within ${HANDLER_WALL_CLOCK_MS_MAX / 1000} s; where it was is not known`;
    this.#context.log.error(
      `Queue "${this.#context.name}": the handler of "${running.consumer.name}" did not finish within ` +
        `${HANDLER_WALL_CLOCK_MS_MAX / 1000} s; messages that it had not settled are retried`,
    );
    await this.#end(running, await this.#resultOfEnded(running, "exceededWallTime", reason));
  }

  /** Makes the result of a handler that ended without one, with its calls; an absence when its Worker is not there. */
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
    const urgency = this.#urgencyOf(running, result);
    try {
      const settled = this.#context.submit(() => this.#settle(running, result, nowMs), urgency);
      if (urgency === "withAlarm" && this.#running.has(running.batch.leaseId)) {
        this.#ended.add(running.batch.leaseId);
        this.#context.rearm();
      }
      await settled;
    } catch (error) {
      // A restart frees its slot and releases its messages, which are delivered again.
      log.error(`Queue "${name}": a delivery could not be settled: ${error}`);
      this.#context.broken(error);
    }
  }

  /**
   * Decides whether a settlement lingers for a commit to share: it only deletes messages, and no batch will wait for
   * its slot by the passing of time. Any other cause of a batch starts a turn by itself. A last attempt does not wait
   * for the alarm: a crash would take its messages for failed ones, and dead-letter them.
   */
  #urgencyOf({ batch }: Running, result: DeliveryResult | RejectedDelivery | Absence): Urgency {
    const { queue, nowMs } = this.#context;
    if (result instanceof Absence || !isAcknowledged(result)) return "now";
    if (this.#presence.isTrial(batch.leaseId) || this.#throttle.isOn) return "now";
    if (isSlotAwaited(queue, nowMs + 2 * this.#ports.lingerMs)) return "now";
    const isLast = batch.slices.some(({ attempts }) => attempts > queue.rules.maxRetries);
    const canWait = !isLast && this.#ports.ringsSoon?.() === true;
    return canWait && !isSlotAwaited(queue, nowMs + this.#ports.heartbeatMs) ? "withAlarm" : "deferred";
  }

  #settle(running: Running, result: DeliveryResult | RejectedDelivery | Absence, endedMs: number): void {
    const isTrial = this.#presence.isTrial(running.batch.leaseId);
    // A delivery that ran too long has ended: its slot is free, and another delivery has its messages.
    if (!this.#forget(running)) return;
    const tookMs = endedMs - running.startedMs;
    if (result instanceof Absence) {
      this.#context.traces?.ended(running.batch.leaseId, null);
      if (isTrial) this.#settler.settle(running, failedResult(GONE_DURING_TRIAL), tookMs);
      else this.#release(running, result.reason);
      this.#presence.lost(running.consumer, result, running.returns);
      running.record.ended(endedMs, failureOf(result));
    } else {
      if (running.record === this.#record) this.#presence.answered();
      const acked = this.#settler.settle(running, result, tookMs);
      const messages = running.batch.count;
      const failure = failureOf(result);
      const hasFailed = failure !== null;
      this.#context.traces?.ended(running.batch.leaseId, { tookMs, acked, failure });
      const reason = failure ?? firstRetryReason(result, messages);
      this.#alerts.delivered(hasFailed || acked === 0 ? reason : null);
      running.record.ended(endedMs, reason, { hasFailed, acked, messages });
    }
  }

  #newRecord(): DeliveryRecord {
    const { history } = this.#context;
    return new DeliveryRecord(() => history.earlierDeliveries(this.#ports.consumer()?.name ?? ""));
  }

  #next(): NextDelivery | null {
    const { retryAtMs, open } = this;
    if (retryAtMs !== null) return { waitsFor: "return", atMs: retryAtMs };
    if (!open) return null;
    const { queue, nowMs } = this.#context;
    return nextDelivery(this.#throttle, nowMs, nextBatchAt(queue));
  }

  /** Forgets a delivery. @returns whether it was still running. */
  #forget({ batch }: Running): boolean {
    this.#presence.ended(batch.leaseId);
    this.#ended.delete(batch.leaseId);
    return this.#running.delete(batch.leaseId);
  }

  /** Releases the messages of a batch that no handler ran, without counting an attempt. */
  #release(running: Running, why: string): void {
    const { queue, nowMs } = this.#context;
    const { batch } = running;
    noteRetried(this.#context, running, batch.slices, { ms: 0, reason: "absence", why });
    for (const slice of batch.slices) release(queue, { ...slice, leaseId: batch.leaseId }, nowMs, nowMs);
    pushEnded(queue, batch, "notRun");
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
