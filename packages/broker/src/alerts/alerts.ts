import { firstReadyMs, nextBatchAt, oldestMs } from "@sluice/engine";
import {
  ALERT_KINDS,
  ALERTS_QUEUE,
  type Alert,
  type AlertKind,
  type AlertSettings,
  deadLettersText,
  isEndpointQueue,
  type PackedIndex,
  type Why,
} from "@sluice/protocol";
import { plural, span } from "@sluice/protocol/words";
import type { QueueContext } from "../turn/context.ts";
import { isForWorkerDaemon } from "../turn/rules.ts";
import { isUntold, sameState, stepAlert } from "./alert-state.ts";
import { LastDeliveries } from "./deliveries.ts";
import { type QueueReport, reportOf, reportRecord } from "./report.ts";
import { ALERTS_NOTE, decodeAlerts, encodeAlerts, NO_ALERTS, type StoredAlerts } from "./stored-alerts.ts";

/**
 * Time in ms in which nothing is delivered before that is noted: the object may sleep before the alert begins, and
 * forget since when. A consumer that is away for a moment costs no row.
 */
export const STILL_NOTED_MS = 5_000;
/** Most characters of a failure that an alert quotes. */
const REASON_LENGTH_MAX = 200;

export interface AlertPorts {
  readonly settings: AlertSettings;
  /** Whether alerts may quote what a handler said: not what must stay in a jurisdiction. */
  readonly quotesFailures: boolean;
}

/** Parts of a queue that its alerts look at. */
export interface AlertedParts {
  readonly outbox: { put(target: string, records: readonly Uint8Array[]): void };
  readonly throttle: { readonly nextMs: number };
}

/**
 * Alerts of a queue. Each turn looks whether their conditions hold. The commit of a turn in which an alert begins or
 * ends stores its state and puts the report into the outbox, so that no crash loses or doubles one.
 */
export class Alerts {
  readonly #context: QueueContext;
  readonly #settings: AlertSettings | null;
  readonly #quotesFailures: boolean;
  /** Parts that are made after this one. */
  readonly #parts: () => AlertedParts;
  readonly #deliveries: LastDeliveries | null;
  #stored: StoredAlerts = NO_ALERTS;
  /** Source of dead letters that have come in this turn. */
  #deadLettersFrom: string | null = null;
  /** Since when messages are due and none is delivered, in ms; `null` where that is not so. */
  #stillSinceMs: number | null = null;
  /** When the queue is known to have stood still not, the last time, in ms. */
  #movedMs: number;
  /** When the message that was the oldest at the last look is too old, in ms. */
  #oldestLookMs = 0;

  /** @param ports `undefined` for a queue without alerts, which then costs nothing. */
  constructor(context: QueueContext, ports: AlertPorts | undefined, parts: () => AlertedParts) {
    this.#context = context;
    this.#settings = ports?.settings ?? null;
    this.#quotesFailures = ports?.quotesFailures ?? false;
    this.#parts = parts;
    this.#movedMs = context.nowMs;
    const { failures } = ports?.settings ?? {};
    this.#deliveries = failures === undefined ? null : new LastDeliveries(failures.deliveries);
  }

  /** Takes over the alerts of earlier epochs. */
  restore(key: string, bytes: Uint8Array): void {
    if (key !== ALERTS_NOTE) return;
    try {
      this.#stored = decodeAlerts(bytes);
      this.#stillSinceMs = this.#stored.stillSinceMs;
    } catch (error) {
      const { log, name } = this.#context;
      log.error(`Queue "${name}": which alerts were on cannot be read, they may be reported again: ${error}`);
    }
  }

  /** Within a turn: takes messages that another queue has transferred. Those of an item are alike. */
  transferred(source: string, index: PackedIndex): void {
    if (this.#settings === null) return;
    // Dead letters keep their age.
    this.#oldestLookMs = 0;
    const { deadLetterOf, deadLetterSource } = index.hasExtension(0) ? index.extension(0) : {};
    if ((deadLetterOf ?? deadLetterSource) === source || isEndpointQueue(source)) {
      this.#deadLettersFrom = source;
    }
  }

  /** Within a turn: takes the end of a delivery that a consumer has had. @param failure `null` if it went well. */
  delivered(failure: string | null): void {
    this.#deliveries?.ended(failure);
    this.#moved(this.#context.nowMs);
  }

  /** Within a turn, at its end: begins and ends alerts. @param isBusy whether deliveries are under way. */
  look(nowMs: number, isBusy: boolean): void {
    if (this.#settings === null) return;
    // A delivery counts when a consumer has had it.
    if (!isBusy) this.#lookStill(nowMs);
    const isSilenced = this.#silentUntilMs > nowMs;
    const before = this.#stored;
    const states = { ...before.states };
    for (const kind of ALERT_KINDS) {
      const { state, tells } = stepAlert(states[kind], this.#holds(kind, nowMs, isBusy), nowMs, isSilenced);
      const of = tells === "begun" ? state.told : states[kind].told;
      if (tells !== null && of !== null)
        this.#report(reportOf(this.#context.queueName, kind, of, tells, nowMs));
      states[kind] = state;
    }
    this.#deadLettersFrom = null;
    const still = this.#stillSinceMs;
    const isNoted = still !== null && (before.stillSinceMs === still || nowMs - still >= STILL_NOTED_MS);
    const stillSinceMs = isNoted ? still : null;
    const isSame = ALERT_KINDS.every((kind) => sameState(states[kind], before.states[kind]));
    if (isSame && stillSinceMs === before.stillSinceMs) return;
    const next = { states, stillSinceMs };
    this.#stored = next;
    this.#context.write(() => this.#context.store.writeNote(ALERTS_NOTE, encodeAlerts(next)));
  }

  /** When an alert may begin that nothing else wakes the queue for, in ms; `null` if none may. */
  get dueAtMs(): number | null {
    const { settings, states } = { settings: this.#settings, states: this.#stored.states };
    if (settings === null) return null;
    const { nowMs } = this.#context;
    const moments: number[] = [];
    if (settings.oldestMessageSeconds !== undefined && !this.#isEmpty && states.oldest_message.on === null) {
      moments.push(this.#oldestLookMs);
    }
    if (settings.stalledSeconds !== undefined && this.#stillSinceMs !== null && states.stalled.on === null) {
      const isNoted = this.#stored.stillSinceMs !== null;
      moments.push(this.#stillSinceMs + (isNoted ? 1_000 * settings.stalledSeconds : STILL_NOTED_MS));
    }
    if (ALERT_KINDS.some((kind) => isUntold(states[kind]))) moments.push(this.#silentUntilMs);
    const ahead = moments.filter((atMs) => atMs > nowMs);
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  /** Lists the alerts that are on. */
  list(): Alert[] {
    if (this.#settings === null) return [];
    return ALERT_KINDS.flatMap((kind) => {
      const { on, told } = this.#stored.states[kind];
      return on === null ? [] : { kind, ...on, isReported: told !== null };
    });
  }

  /** Tells of the alerts that are on, beside why nothing is delivered. */
  why(): Why[] {
    return this.list().map(({ sinceMs, text }) => ({
      reason: "alert",
      text: `Alert since ${new Date(sinceMs).toISOString()}: ${text}.`,
      untilMs: null,
      by: null,
    }));
  }

  get #silentUntilMs(): number {
    return this.#context.definition?.alertsSilentUntilMs ?? 0;
  }

  get #isEmpty(): boolean {
    const { readyCount, delayedCount, leasedCount } = this.#context.queue;
    return readyCount + delayedCount + leasedCount === 0;
  }

  /** Why the condition of an alert holds; `null` if it does not. */
  #holds(kind: AlertKind, nowMs: number, isBusy: boolean): string | null {
    switch (kind) {
      case "dead_letters":
        return this.#hasDeadLetters();
      case "oldest_message":
        return this.#isOld(nowMs);
      case "failures":
        return this.#failsOften();
      case "stalled":
        return this.#standsStill(nowMs, isBusy);
    }
  }

  #hasDeadLetters(): string | null {
    if (this.#settings?.deadLetters !== true || this.#isEmpty) return null;
    const from = this.#deadLettersFrom;
    if (from === null) return this.#stored.states.dead_letters.on?.text ?? null;
    return deadLettersText(isEndpointQueue(from) ? null : from);
  }

  /** Messages in delivery count too: else each attempt of an old message would end the alert. */
  #isOld(nowMs: number): string | null {
    const seconds = this.#settings?.oldestMessageSeconds;
    // Dead letters grow old, and somebody was told of them.
    if (seconds === undefined || this.#isEmpty || this.#hasDeadLetters() !== null) return null;
    if (this.#stored.states.oldest_message.on === null && nowMs < this.#oldestLookMs) return null;
    this.#oldestLookMs = oldestMs(this.#context.queue) + 1_000 * seconds;
    if (nowMs < this.#oldestLookMs) return null;
    return `the oldest message was sent more than ${span(1_000 * seconds)} ago and is not done`;
  }

  #failsOften(): string | null {
    const { failures } = this.#settings ?? {};
    if (failures === undefined || this.#deliveries === null) return null;
    const { failed, reason } = this.#deliveries;
    // An epoch that has seen too little changes nothing.
    if (failed === null) return this.#stored.states.failures.on?.text ?? null;
    if (failed <= failures.share * failures.deliveries) return null;
    const first = reason.split("\n", 1)[0] ?? "";
    const why = !this.#quotesFailures ? "" : `, the latest: ${first.slice(0, REASON_LENGTH_MAX)}`;
    return `${failed} of the last ${failures.deliveries} deliveries failed${why}`;
  }

  #standsStill(nowMs: number, isBusy: boolean): string | null {
    const seconds = this.#settings?.stalledSeconds;
    const sinceMs = this.#stillSinceMs;
    if (seconds === undefined || sinceMs === null || nowMs < sinceMs + 1_000 * seconds) return null;
    const on = this.#stored.states.stalled.on?.text ?? null;
    // What is under way may be delivered.
    if (isBusy || on !== null) return on;
    const ready = plural(this.#context.queue.readyCount, "message");
    return `nothing has been delivered since ${new Date(sinceMs).toISOString()}, with ${ready} ready`;
  }

  #moved(nowMs: number): void {
    this.#stillSinceMs = null;
    this.#movedMs = nowMs;
  }

  /** Notes since when messages are due and none is delivered, although there is a consumer and nothing is paused. */
  #lookStill(nowMs: number): void {
    const dueMs = this.#dueMs(nowMs);
    if (dueMs === null || dueMs > nowMs) this.#moved(nowMs);
    else this.#stillSinceMs ??= Math.max(dueMs, this.#movedMs);
  }

  /** Since when the first message could be delivered if the consumer took it, in ms; `null` if none could. */
  #dueMs(nowMs: number): number | null {
    const { definition, queue } = this.#context;
    const consumer = definition?.consumer ?? null;
    if (consumer === null || consumer.type === "http_pull" || definition?.deliveryPaused === true)
      return null;
    // A queue at its rate goes on by itself.
    if (this.#parts().throttle.nextMs > nowMs) return null;
    return isForWorkerDaemon(definition) ? firstReadyMs(queue) : nextBatchAt(queue);
  }

  #report(report: QueueReport): void {
    const { name, log, nowMs } = this.#context;
    const id = this.#context.newMessageId();
    this.#parts().outbox.put(ALERTS_QUEUE, [reportRecord(report, this.#settings?.format, id, nowMs)]);
    const line = `Queue "${name}": alert ${report.kind} has ${report.type === "alert.begun" ? "begun" : "ended"}: ${report.text}`;
    if (report.type === "alert.begun") log.warn(line);
    else log.info(line);
  }
}
