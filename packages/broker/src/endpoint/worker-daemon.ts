import { decodeAttributes, uuidOf } from "@sluice/aws";
import { firstReadyMs } from "@sluice/engine";
import {
  type ConsumerHealth,
  type DrainReply,
  IN_FLIGHT_MAX,
  PackedIndex as Index,
  type PackedIndex,
  type ReceivedMessage,
  receivedMessage,
} from "@sluice/protocol";
import {
  actionAfter,
  type DaemonMessage,
  daemonRequest,
  failureLine,
  type PostOutcome,
  pathOf,
  taskOf,
} from "@sluice/sqsd";
import type { Alerts } from "../alerts/alerts.ts";
import { DeliveryRecord, nextDelivery } from "../push/consumer-health.ts";
import type { Receivers } from "../receive/receivers.ts";
import { changeByReceipt, deleteByReceipt } from "../receive/settle-receipts.ts";
import type { QueueContext } from "../turn/context.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { DaemonDeliverer } from "../why/conditions.ts";
import type { EndpointOutcome } from "./endpoint.ts";
import type { EndpointCaller } from "./endpoint-caller.ts";
import { traceHeaders } from "./trace-headers.ts";

/** Most messages of one receive, as for every client of SQS. */
const RECEIVE_MAX = 10;
/** Time that no request is begun after a drain, in ms. If the stop does not follow, requests go on after it. */
export const DRAIN_MS = 10_000;
/** Account of the sender, as SQS names it, unless the broker has another. All senders here share one. */
const SENDER_ID_DEFAULT = "000000000000";

/** Message that the daemon posts. */
export interface Work {
  readonly message: DaemonMessage;
  /** Headers with its trace context. */
  readonly trace: Readonly<Record<string, string>>;
  readonly receipt: string;
  /** Time in ms at which its visibility timeout ends. */
  readonly visibleAtMs: number;
  readonly caller: EndpointCaller;
}

export interface WorkerDaemonPorts {
  /** Returns the caller of the application; `null` for a queue without a worker daemon. */
  daemon(): EndpointCaller | null;
  /** Account of the broker. Default: `SENDER_ID_DEFAULT`. */
  readonly account?: string | undefined;
}

/** Parts of a queue that its worker daemon uses. */
interface WorkerDaemonParts {
  readonly receivers: Receivers;
  readonly throttle: Throttle;
  readonly alerts: Alerts;
}

/**
 * Worker daemon of Elastic Beanstalk for one queue (spec sqsd): a client of SQS that receives messages for the free
 * connections of an application, posts each and deletes it on success. It lives in the queue's object and polls
 * nothing: the turn that makes messages visible receives them, after waiting clients. Receive counts, visibility
 * timeouts, dead letters and groups are those of SQS.
 */
export class WorkerDaemon {
  readonly #context: QueueContext;
  readonly #parts: WorkerDaemonParts;
  readonly #ports: WorkerDaemonPorts;
  readonly #record = new DeliveryRecord();
  #posts = 0;
  #isPresent = true;
  /** Time in ms before which nothing is received. */
  #drainedUntilMs = 0;

  constructor(context: QueueContext, parts: WorkerDaemonParts, ports: WorkerDaemonPorts) {
    this.#context = context;
    this.#parts = parts;
    this.#ports = ports;
  }

  /** Time in ms at which it needs a turn that nothing else causes; `null` if it needs none. */
  get wakeAtMs(): number | null {
    const { queue, nowMs, definition } = this.#context;
    // Resuming a queue wakes it.
    if (this.#caller === null || definition?.deliveryPaused === true) return null;
    if (nowMs < this.#drainedUntilMs) return this.#drainedUntilMs;
    // The end of a lease wakes the queue when too many messages are leased, or, below, when a group is blocked.
    if (queue.leasedCount >= IN_FLIGHT_MAX) return null;
    // A connection becomes free by itself, unless this epoch ends before it.
    const visibleMs = firstReadyMs(queue) ?? queue.delayed.peek()?.atMs ?? null;
    return visibleMs === null ? null : Math.max(nowMs + 1, visibleMs, this.#parts.throttle.nextMs);
  }

  /** Health of its requests; `null` where no worker daemon is set. */
  get health(): ConsumerHealth | null {
    if (this.#caller === null) return null;
    return {
      isPresent: this.#isPresent,
      inFlight: this.#posts,
      ...this.#record.read(),
      next: nextDelivery(this.#parts.throttle, this.#context.nowMs, this.#dueMs()),
    };
  }

  /** Application that the messages are posted to; `null` where no worker daemon is set. */
  get deliverer(): DaemonDeliverer | null {
    const caller = this.#caller;
    if (caller === null) return null;
    const free = Math.max(0, caller.settings.maxConcurrency - this.#posts);
    return { kind: "daemon", name: caller.name, free, drainedUntilMs: this.#drainedUntilMs };
  }

  /** Whether requests are under way. */
  get busy(): boolean {
    return this.#posts > 0;
  }

  /** Time in ms of its next receive if nothing is sent; `null` when nothing waits or every connection is taken. */
  #dueMs(): number | null {
    const { queue, nowMs, definition } = this.#context;
    if (this.#caller === null || this.#roomFor(this.#caller) === 0) return null;
    if (definition?.deliveryPaused === true) return null;
    const invisible = queue.leased.peek();
    const moments = [
      firstReadyMs(queue) === null ? null : nowMs,
      queue.delayed.peek()?.atMs ?? null,
      // A message that is invisible while nothing is posted has failed, or was received by another client.
      this.busy || invisible === undefined ? null : invisible.atMs,
    ].filter((moment) => moment !== null);
    return moments.length === 0 ? null : Math.max(Math.min(...moments), this.#drainedUntilMs);
  }

  /** Within a turn: stops receiving for `DRAIN_MS`, so that requests under way can end (spec sqsd 5, S11). */
  drain(nowMs: number): DrainReply {
    this.#drainedUntilMs = nowMs + DRAIN_MS;
    return { requests: this.#posts };
  }

  /** Within a turn: receives visible messages for the free connections. */
  take(nowMs: number): Work[] {
    const caller = this.#caller;
    const daemon = caller?.settings.daemon;
    if (caller === null || daemon === undefined || nowMs < this.#drainedUntilMs) return [];
    const taken: Work[] = [];
    const visibilityMs = 1000 * daemon.visibilityTimeoutSeconds;
    for (let max = this.#roomFor(caller); max > 0; max = this.#roomFor(caller)) {
      const reply = this.#parts.receivers.takeNow(max, visibilityMs, nowMs);
      if (reply === null) break;
      const index = new Index(reply.packed);
      for (let i = 0; i < index.count; i++) {
        const received = receivedMessage(reply, i);
        const message = daemonMessage(index, i, received, {
          senderId: this.#ports.account || SENDER_ID_DEFAULT,
          isTrusted: daemon.trustsTaskAttributes === true,
        });
        if (nowMs > message.firstReceivedMs + 1000 * daemon.retentionSeconds) {
          this.#expire(message, received.receipt);
          continue;
        }
        this.#posts += 1;
        const trace = index.hasExtension(i) ? traceHeaders(index.extension(i)) : {};
        taken.push({ message, trace, receipt: received.receipt, visibleAtMs: nowMs + visibilityMs, caller });
      }
      // The messages are visible again at once, and would be received again.
      if (visibilityMs === 0) break;
    }
    return taken;
  }

  /** After the commit: posts the received messages. */
  start(work: readonly Work[]): void {
    for (const each of work) void this.#run(each);
  }

  get #caller(): EndpointCaller | null {
    return this.#ports.daemon();
  }

  /** Counts the messages that may be received now; on a FIFO queue one at a time, since groups block. */
  #roomFor({ settings }: EndpointCaller): number {
    const free = settings.maxConcurrency - this.#posts;
    return Math.max(0, Math.min(free, this.#context.queue.isFifo ? 1 : RECEIVE_MAX));
  }

  /** Within a turn: deletes a message that is too old without posting it (spec sqsd 5, S9). */
  #expire(message: DaemonMessage, receipt: string): void {
    deleteByReceipt(this.#context, receipt);
    this.#warn(
      `expired-msg: ${message.id} was received first at ${new Date(message.firstReceivedMs).toISOString()}`,
    );
  }

  async #run(work: Work): Promise<void> {
    const { log, name, nowMs: startedMs } = this.#context;
    const outcome = await this.#post(work);
    try {
      await this.#context.submit(() => {
        this.#posts -= 1;
        this.#settle(work, outcome, startedMs);
      });
    } catch (error) {
      log.error(`Queue "${name}": a message could not be settled: ${error}`);
      this.#context.broken(error);
    }
  }

  /**
   * Posts a message, a second time if its connection was closed without a byte of an answer, since that may have been
   * an old one (S7).
   */
  async #post(work: Work): Promise<EndpointOutcome> {
    const { caller, message, trace } = work;
    try {
      const request = daemonRequest(message, {
        url: caller.settings.url,
        contentType: caller.settings.contentType ?? "application/json",
        queue: this.#context.queueName,
      });
      for (const line of request.dropped) this.#warn(`${message.id}: ${line}`);
      const post = { ...request, headers: { ...request.headers, ...trace }, id: message.id };
      const outcome = await caller.post(post);
      if (outcome.kind !== "closed" || outcome.isRepeated === true || outcome.isBegun === true)
        return outcome;
      return await caller.post(post);
    } catch (error) {
      return { kind: "unreachable", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Within a turn: deletes the message, or changes its visibility, by the outcome of its request. */
  #settle({ message, receipt, visibleAtMs, caller }: Work, outcome: PostOutcome, startedMs: number): void {
    const { nowMs, name, log } = this.#context;
    const timeout = caller.settings.daemon?.errorVisibilityTimeoutSeconds ?? null;
    const action = actionAfter(outcome, timeout, nowMs >= visibleAtMs);
    const tookMs = nowMs - startedMs;
    this.#isPresent = outcome.kind !== "unreachable";
    if (this.#isPresent) this.#parts.alerts.delivered(action.kind === "delete" ? null : reasonOf(outcome));
    this.#record.ended(nowMs, action.kind === "delete" ? null : reasonOf(outcome));
    if (action.kind !== "delete") {
      const { tag, text } = failureLine(message.id, message.receiveCount, outcome, tookMs);
      this.#warn(`${tag}: ${text}`);
    }
    if (action.kind === "delete") {
      const deleted = deleteByReceipt(this.#context, receipt);
      if (deleted !== "deleted") {
        this.#warn(
          `${message.id} was done after its visibility timeout had ended: its group has gone on, it comes again`,
        );
      }
      log.handled(name, deleted === "deleted" ? 1 : 0, 1, tookMs);
    } else if (action.kind === "changeVisibility") {
      const change = { receipt, visibilityTimeoutMs: 1000 * action.seconds };
      const changed = changeByReceipt(this.#context, change);
      if (changed !== "changed") this.#warn(`${message.id} keeps its visibility timeout: ${changed}`);
    }
  }

  #warn(text: string): void {
    this.#context.log.warn(`Queue "${this.#context.name}": ${text}`);
  }
}

function reasonOf(outcome: PostOutcome): string {
  return outcome.kind === "answered" ? `it answered ${outcome.status}` : outcome.reason;
}

/** Makes the message to post. @param isTrusted whether attributes with a task or a path count from every sender. */
function daemonMessage(
  index: PackedIndex,
  i: number,
  received: ReceivedMessage,
  { senderId, isTrusted }: { readonly senderId: string; readonly isTrusted: boolean },
): DaemonMessage {
  const { id, body, timestampMs } = index.message(i);
  const extension = index.extension(i);
  const { attributes } = decodeAttributes(extension.attributes);
  return {
    id: uuidOf(id),
    body,
    attributes,
    receiveCount: received.receiveCount,
    firstReceivedMs: received.firstReceivedMs,
    sentMs: timestampMs,
    senderId,
    task: isTrusted || extension.isPeriodicTask === true ? taskOf(attributes) : null,
    path: isTrusted ? pathOf(attributes) : null,
  };
}
