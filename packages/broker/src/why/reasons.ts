import {
  Blockers,
  isHeldBack,
  type LookAhead,
  type MessagePosition,
  type MessageRange,
  nextDeliveries,
  nextReceives,
  type Queue,
} from "@sluice/engine";
import { IN_FLIGHT_MAX, type Why, type WhyReason } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { deadLetterQueueOf } from "../turn/rules.ts";
import type { Conditions, Deliverer } from "./conditions.ts";

/** Most messages of one receive of a worker daemon. */
const DAEMON_RECEIVE_MAX = 10;

/** Facts of a message that the engine does not know. */
export interface OwnFacts {
  /** Its own delay, in seconds. */
  readonly delaySeconds: number | undefined;
  /** Time of its send, in ms. */
  readonly sentMs: number;
}

/**
 * Reasons for which messages are not delivered, from the current state of the queue: nothing is leased, counted or
 * written. Make it anew after every change of the queue.
 */
export class Reasons {
  readonly #queue: Queue;
  readonly #conditions: Conditions;
  /** Returns the id of the message at a place; `null` for one that cannot be read. */
  readonly #idAt: (position: MessagePosition) => string | null;
  readonly #blockers: Blockers;
  #ahead: LookAhead | undefined;

  constructor(queue: Queue, conditions: Conditions, idAt: (position: MessagePosition) => string | null) {
    this.#queue = queue;
    this.#conditions = conditions;
    this.#idAt = idAt;
    this.#blockers = new Blockers(queue);
  }

  /** Explains why message `index` of the segment, one of that range, is not delivered. */
  of(range: MessageRange, index: number, own: OwnFacts): Why {
    const position = { segmentId: range.segmentId, index };
    switch (range.state) {
      case "leased":
        return this.#leased(range);
      case "delayed":
        return this.#delayed(range, own);
      case "ready":
        return this.#blocked(position) ?? this.#exhausted(range) ?? this.#ready(position);
    }
  }

  /** Reason for which no ready message leaves; `dueNow` when some do. */
  get ofReady(): Why {
    const reason = this.#closed() ?? (this.#lookAhead.count > 0 ? this.#dueNow() : this.#stopped());
    if (reason.reason !== "awaitsPull") return reason;
    const text = "Messages are ready: the next client that asks gets some.";
    const { deliverer } = this.#conditions;
    const askedMs = deliverer.kind === "clients" ? deliverer.askedMs : null;
    const last = askedMs === null ? "is known to have asked yet" : `has asked since ${timeOf(askedMs)}`;
    return { ...reason, text: `${text} None ${last}.` };
  }

  #leased({ atMs, attempts, leaseKind }: MessageRange): Why {
    const { deliverer, nowMs } = this.#conditions;
    const holder = nameOf(deliverer);
    const by = leaseKind === "push" || deliverer.kind === "daemon" ? holder : null;
    const who =
      by !== null
        ? `${quoted(by)} works on it`
        : leaseKind === "push"
          ? "A consumer works on it"
          : `A client has ${leaseKind === "pull" ? "pulled" : "received"} it`;
    const end =
      atMs > nowMs ? `until ${timeOf(atMs)} at the latest` : `and its time was up at ${timeOf(atMs)}`;
    return why("leased", `${who}, ${end}: delivery ${attempts}.`, atMs, by);
  }

  #delayed({ atMs, attempts }: MessageRange, { delaySeconds, sentMs }: OwnFacts): Why {
    return why(
      "delayed",
      `It is due at ${timeOf(atMs)}: ${this.#delayedBy(attempts, delaySeconds, atMs - sentMs)}.`,
      atMs,
    );
  }

  #delayedBy(attempts: number, delaySeconds: number | undefined, waitMs: number): string {
    if (attempts > 0) return `delivery ${attempts} has failed or asked for a retry, and the next one waits`;
    if (delaySeconds !== undefined) return `its send asked for a delay of ${delaySeconds} s`;
    const queueSeconds = this.#conditions.definition?.deliveryDelaySeconds ?? 0;
    if (queueSeconds > 0 && waitMs === 1_000 * queueSeconds) {
      return `the queue's delivery_delay is ${queueSeconds} s`;
    }
    return "it came with a delay of its batch, its binding or the queue";
  }

  /** Explains why a message waits for another one of its group; `null` if none blocks it. */
  #blocked(position: MessagePosition): Why | null {
    const blocker = this.#blockers.of(position);
    if (blocker === null) return null;
    const id = this.#idAt(blocker);
    const which = id === null ? "One" : `Message ${id}`;
    return why("groupBlocked", `${which} of its group comes before it and has to be gone first.`, null, id);
  }

  /**
   * Explains that a message has had all its receives; `null` for other messages, and where a consumer does not receive
   * them.
   */
  #exhausted({ attempts }: MessageRange): Why | null {
    const { deliverer, definition } = this.#conditions;
    const isReceived = deliverer.kind !== "push" && definition?.consumer?.type !== "http_pull";
    if (!isReceived || attempts <= this.#queue.rules.maxRetries) return null;
    const target = deadLetterQueueOf(definition);
    const end = target === null ? "deletes it" : `moves it to ${quoted(target)}`;
    return why(
      "exhausted",
      `It was received ${plural(attempts, "time")}, as often as it may be: the next receive ${end}.`,
      null,
      target,
    );
  }

  #ready(position: MessagePosition): Why {
    const closed = this.#closed();
    if (closed !== null) return closed;
    const ahead = this.#lookAhead;
    if (ahead.has(position.segmentId, position.index)) return this.#dueNow();
    if (isHeldBack(this.#queue, position)) {
      const text =
        "Its group has more than a tenth of all messages in flight: those of other groups leave first.";
      return why("groupHeldBack", text);
    }
    const first = this.#blockers.firstOf(position);
    if (first !== null && ahead.has(first.segmentId, first.index)) {
      const id = this.#idAt(first);
      return why("groupBlocked", "Messages of its group that come before it leave first.", null, id);
    }
    return this.#stopped();
  }

  /** Explains why the queue delivers no message at all; `null` when it may deliver some. */
  #closed(): Why | null {
    const { deliverer, definition, queue, nowMs } = this.#conditions;
    if (definition?.deliveryPaused === true) return why("paused", "Delivery is paused until it is resumed.");
    switch (deliverer.kind) {
      case "none": {
        const { expected, configured } = deliverer;
        const removed =
          configured === null
            ? ""
            : ` The configuration names Worker ${quoted(configured)}, which an API has removed since: ` +
              `"wrangler queues consumer worker add" or a change of the configuration brings it back.`;
        const text =
          expected === null
            ? `Queue ${quoted(queue)} has no consumer, and no client is known to ask for its messages.${removed}`
            : `Its consumer ${quoted(expected)} is not one that this broker was started with.`;
        return why("noConsumer", text, null, expected);
      }
      case "clients":
        return null;
      case "push": {
        const { name, heldUntilMs, askedAgainMs, notCalledReason, trial } = deliverer;
        if (heldUntilMs !== null) {
          const text =
            `A Worker has ended the runtime, and they begin one after the other: ` +
            `${quoted(name)} at ${timeOf(heldUntilMs)}.`;
          return why("consumerAway", text, heldUntilMs, name);
        }
        if (askedAgainMs !== null) {
          const text =
            notCalledReason === null
              ? `${quoted(name)} does not answer, and is asked again at ${timeOf(askedAgainMs)}.`
              : `${quoted(name)} is not called: ${notCalledReason}. Sluice looks again at ${timeOf(askedAgainMs)}.`;
          return why("consumerAway", text, askedAgainMs, name);
        }
        if (trial !== "running") return null;
        return why(
          "consumerAway",
          `${quoted(name)} is back, and gets more once its first delivery has ended.`,
          null,
          name,
        );
      }
      case "daemon": {
        const { drainedUntilMs } = deliverer;
        if (nowMs >= drainedUntilMs) return null;
        const text = `The broker is about to be stopped, and begins no request before ${timeOf(drainedUntilMs)}.`;
        return why("draining", text, drainedUntilMs);
      }
    }
  }

  #dueNow(): Why {
    const { nowMs, deliverer } = this.#conditions;
    return why("dueNow", "It leaves with the next turn of the queue, at once.", nowMs, nameOf(deliverer));
  }

  /** Messages that the next turn takes. */
  get #lookAhead(): LookAhead {
    this.#ahead ??= this.#look();
    return this.#ahead;
  }

  #look(): LookAhead {
    const queue = this.#queue;
    const { deliverer, nowMs, room, isThrottled } = this.#conditions;
    if (deliverer.kind === "push") {
      const batchesMax = isThrottled || deliverer.trial === "due" ? 1 : Infinity;
      return nextDeliveries(queue, { messagesMax: room, batchesMax }, nowMs);
    }
    if (deliverer.kind === "daemon") {
      const inFlight = Math.max(0, IN_FLIGHT_MAX - queue.leasedCount);
      const max = Math.min(deliverer.free, inFlight, isThrottled ? Math.min(1, room) : Infinity);
      return nextReceives(queue, max, queue.isFifo || isThrottled ? 1 : DAEMON_RECEIVE_MAX, nowMs);
    }
    return nextReceives(queue, 0, 1, nowMs);
  }

  /** Explains why no further message leaves. */
  #stopped(): Why {
    const { deliverer, room, isThrottled, nextSlotMs } = this.#conditions;
    const { stop, batchDueMs, count } = this.#lookAhead;
    if (isThrottled && (room <= 0 || (stop === "limit" && count > 0))) return this.#throttled(nextSlotMs);
    if (deliverer.kind !== "push" && this.#queue.leasedCount >= IN_FLIGHT_MAX) {
      return why("concurrency", `${IN_FLIGHT_MAX} messages are in flight, as many as may be.`);
    }
    if (deliverer.kind === "clients") {
      const text = "It is ready: the next client that asks gets it, or one before it.";
      return why("awaitsPull", text);
    }
    switch (stop) {
      case "nothingReady":
        return why("groupBlocked", "Every message that is ready stands behind one of its group that is not.");
      case "batch": {
        const { maxBatchSize, batchTimeoutMs } = this.#queue.rules;
        const text =
          `A batch is not full: it leaves with ${maxBatchSize} messages, or ${batchTimeoutMs / 1_000} s after its ` +
          `first one came, at ${timeOf(batchDueMs ?? 0)}.`;
        return why("batching", text, batchDueMs, nameOf(deliverer));
      }
      case "bytes":
        return why(
          "concurrency",
          "Deliveries that run have as many bytes as may be on their way at a time.",
          null,
          nameOf(deliverer),
        );
      case "slots":
        return this.#noSlot();
      case "limit":
        return deliverer.kind === "daemon"
          ? why(
              "concurrency",
              "Every connection to the application has a request, or will have.",
              null,
              deliverer.name,
            )
          : why(
              "consumerAway",
              "The consumer is back, and gets more once its first delivery has ended.",
              null,
              nameOf(deliverer),
            );
    }
  }

  #throttled(untilMs: number): Why {
    const { definition } = this.#conditions;
    const rate = definition?.maxReceivesPerSecond ?? 0;
    const text = `The queue delivers ${plural(rate, "message")} a second at most: the next one leaves at ${timeOf(untilMs)}.`;
    return why("throttled", text, untilMs);
  }

  #noSlot(): Why {
    const { push, rules } = this.#queue;
    const { deliverer } = this.#conditions;
    if (rules.maxConcurrency === 0) {
      const text =
        "Other objects of the queue run as many deliveries as max_concurrency allows: it is its turn soon.";
      return why("concurrency", text, null, nameOf(deliverer));
    }
    const isRuled = rules.maxConcurrency !== null && rules.maxConcurrency <= push.target;
    const failures = push.failures.filter(Boolean).length;
    const because = isRuled
      ? "as max_concurrency allows"
      : failures > 0
        ? `as many as the queue starts while ${failures} of the last ${push.failures.length} failed`
        : "as many as the queue has needed so far";
    const running =
      push.inFlight > 1
        ? `${push.inFlight} deliveries run`
        : `One delivery ${push.inFlight === 1 ? "runs" : "leaves before it"}`;
    return why(
      "concurrency",
      `${running}, ${because}: it leaves when one has ended.`,
      null,
      nameOf(deliverer),
    );
  }
}

function why(reason: WhyReason, text: string, untilMs: number | null = null, by: string | null = null): Why {
  return { reason, text, untilMs, by };
}

function nameOf(deliverer: Deliverer): string | null {
  return deliverer.kind === "push" || deliverer.kind === "daemon" ? deliverer.name : null;
}

function quoted(name: string): string {
  return `"${name}"`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
