import { batchDueAt, firstReadyMs, oldestMs } from "@sluice/engine";
import {
  ALERT_KINDS,
  ALERTS_QUEUE,
  type Alert,
  type AlertKind,
  type AlertSettings,
  deadLettersText,
  HANDLER_WALL_CLOCK_MS_MAX,
  isEndpointQueue,
  isWhole,
  type PackedIndex,
  type Why,
} from "@sluice/protocol";
import { plural, span } from "@sluice/protocol/words";
import type { QueueContext } from "../turn/context.ts";
import { isForWorkerDaemon } from "../turn/rules.ts";
import {
  type AlertChange,
  type Elsewhere,
  firstAnywhere,
  hasUnreported,
  sameState,
  stepAlert,
} from "./alert-state.ts";
import { LastDeliveries } from "./deliveries.ts";
import { type QueueReport, reportOf, reportRecord } from "./report.ts";
import { ShardsAlerts, shardAlertNotes, shardAlertRecord } from "./shard-alerts.ts";
import { ALERTS_NOTE, decodeAlerts, encodeAlerts, NO_ALERTS, type StoredAlerts } from "./stored-alerts.ts";

/**
 * Time in ms in which nothing is delivered before that is noted: the object may sleep before the alert begins, and
 * forget since when. A consumer that is away for a moment costs no row.
 */
export const STILL_NOTED_MS = 5_000;
/**
 * Time in ms after which the last deliveries of a shard count no more: senders may keep to other shards by now. A shard
 * that works has ended a delivery by then.
 */
export const SHARD_DELIVERIES_MS = HANDLER_WALL_CLOCK_MS_MAX;
/** Most characters of a failure that an alert quotes. */
const REASON_LENGTH_MAX = 200;

export interface AlertPorts {
  readonly settings: AlertSettings;
  /** Whether alerts may quote what a handler said: not what must stay in a jurisdiction. */
  readonly quotesFailures: () => boolean;
}

/** Parts of a queue that its alerts look at. */
export interface AlertedParts {
  readonly outbox: {
    put(target: string, records: readonly Uint8Array[]): void;
    passOn(object: string, origin: string, records: readonly Uint8Array[]): void;
  };
  /** `null` for an object that has no others beside it. */
  readonly part: { readonly isWaiting: boolean } | null;
}

/**
 * Alerts of a queue. Each turn checks whether their conditions hold. The commit of a turn in which an alert begins or
 * ends stores its state and puts the report into the outbox, so that no crash loses or doubles one.
 *
 * An alert of a queue with shards is on while it is on in any of them. Shard 0 reports to the webhook, the others to
 * shard 0, by their outboxes too.
 */
export class Alerts {
  readonly #context: QueueContext;
  readonly #settings: AlertSettings | null;
  readonly #quotesFailures: () => boolean;
  /** Parts that are made after this one. */
  readonly #parts: () => AlertedParts;
  readonly #deliveries: LastDeliveries | null;
  /** Alerts of the other shards; shard 0 alone has any. */
  readonly #others = new ShardsAlerts();
  #haveOthersChanged = false;
  /** When the last delivery ended, or the epoch began, in ms. */
  #deliveredMs: number;
  #stored: StoredAlerts = NO_ALERTS;
  /** Source of dead letters that have come in this turn. */
  #deadLettersFrom: string | null = null;
  /** Since when messages are due and none is delivered, in ms; `null` where that is not so. */
  #stillSinceMs: number | null = null;
  /** Latest time in ms at which the queue is known not to have stood still. */
  #movedMs: number;
  /** Whether the queue could stand still at the last look: a message was due, and nothing held it. */
  #wasFree = false;
  /** When the message that was the oldest at the last look is too old, in ms. */
  #oldestLookMs = 0;

  /** @param ports `undefined` for a queue without alerts, which then costs nothing. */
  constructor(context: QueueContext, ports: AlertPorts | undefined, parts: () => AlertedParts) {
    this.#context = context;
    this.#settings = ports?.settings ?? null;
    this.#quotesFailures = ports?.quotesFailures ?? (() => false);
    this.#parts = parts;
    this.#movedMs = context.nowMs;
    this.#deliveredMs = context.nowMs;
    const { failures } = ports?.settings ?? {};
    this.#deliveries = failures === undefined ? null : new LastDeliveries(failures.deliveries);
  }

  /** Takes over the alerts of earlier epochs. */
  restore(key: string, bytes: Uint8Array): void {
    if (key !== ALERTS_NOTE) return;
    try {
      this.#stored = decodeAlerts(bytes);
      this.#stillSinceMs = this.#stored.stillSinceMs;
      this.#others.restore(this.#stored.shards);
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
    const { deadLetterOf, deadLetterSource } = index.extension(0);
    if ((deadLetterOf ?? deadLetterSource) === source || isEndpointQueue(source)) {
      this.#deadLettersFrom = source;
    }
  }

  /** Within a turn: takes notes of another shard about its alerts. */
  toldBy(shard: number, index: PackedIndex): void {
    this.#others.take(shard, shardAlertNotes(index));
    this.#haveOthersChanged = true;
  }

  /** Within a turn: takes the end of a delivery that a consumer has had. @param failure `null` if it went well. */
  delivered(failure: string | null): void {
    this.#deliveries?.ended(failure);
    this.#deliveredMs = this.#context.nowMs;
    this.#moved(this.#context.nowMs);
  }

  /** Within a turn, at its end: begins and ends alerts. @param isBusy whether deliveries are under way. */
  look(nowMs: number, isBusy: boolean): void {
    const { shardMap } = this.#context;
    if (shardMap !== undefined && this.#others.keep(shardMap.kept)) this.#haveOthersChanged = true;
    const before = this.#stored;
    const { states, stillSinceMs } = this.#settings === null ? before : this.#step(nowMs, isBusy);
    this.#deadLettersFrom = null;
    const isSame =
      states === before.states || ALERT_KINDS.every((kind) => sameState(states[kind], before.states[kind]));
    if (isSame && stillSinceMs === before.stillSinceMs && !this.#haveOthersChanged) return;
    this.#haveOthersChanged = false;
    const { stored: shards } = this.#others;
    const next = { states, stillSinceMs, ...(shards === undefined ? {} : { shards }) };
    this.#stored = next;
    this.#context.write(() => this.#context.store.writeNote(ALERTS_NOTE, encodeAlerts(next)));
  }

  /** Makes a step of each alert, and reports what begins and ends. */
  #step(nowMs: number, isBusy: boolean): Pick<StoredAlerts, "states" | "stillSinceMs"> {
    this.#lookStill(nowMs, isBusy);
    const isSilenced = this.#silentUntilMs > nowMs;
    const before = this.#stored;
    const states = { ...before.states };
    for (const kind of ALERT_KINDS) {
      const text = this.#holds(kind, nowMs, isBusy);
      const { state, changes } = stepAlert(states[kind], text, nowMs, isSilenced, this.#elsewhere(kind));
      for (const change of changes) this.#notify(kind, change, nowMs);
      states[kind] = state;
    }
    const still = this.#stillSinceMs;
    const isNoted = still !== null && (before.stillSinceMs === still || nowMs - still >= STILL_NOTED_MS);
    return { states, stillSinceMs: isNoted ? still : null };
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
    if (this.#isShared && states.failures.on !== null) moments.push(this.#deliveriesEndMs);
    if (ALERT_KINDS.some((kind) => hasUnreported(states[kind], this.#elsewhere(kind))))
      moments.push(this.#silentUntilMs);
    const ahead = moments.filter((atMs) => atMs > nowMs);
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  /** Lists the alerts that are on. Those of a queue with shards are listed by shard 0. */
  list(): Alert[] {
    if (this.#settings === null || this.#context.shard > 0) return [];
    return ALERT_KINDS.flatMap((kind) => {
      const { on, told, endedMs } = this.#stored.states[kind];
      const first = firstAnywhere(on, this.#elsewhere(kind));
      if (first === null) return [];
      // With shards the reported beginning counts, even if it has ended: the alert goes on in another shard.
      const isReported = told !== null && endedMs === undefined;
      return { kind, ...(isReported ? told : first), isReported };
    });
  }

  /** Lists the alerts that are on as further reasons why nothing is delivered. */
  why(): Why[] {
    return this.list().map(({ sinceMs, text }) => ({
      reason: "alert",
      text: `Alert since ${new Date(sinceMs).toISOString()}: ${text}.`,
      untilMs: null,
      by: null,
    }));
  }

  /** Whether the queue has other shards. */
  get #isShared(): boolean {
    const { shardMap } = this.#context;
    return shardMap !== undefined && !isWhole(shardMap);
  }

  /** Names the shard in a text about it alone. */
  get #ofShard(): string {
    return this.#isShared ? ` of shard ${this.#context.shard}` : "";
  }

  /** When the last deliveries of a shard count no more, in ms. */
  get #deliveriesEndMs(): number {
    return this.#deliveredMs + SHARD_DELIVERIES_MS;
  }

  /** Finds an alert in other shards; `null` where the queue has none. */
  #elsewhere(kind: AlertKind): Elsewhere | null {
    if (!this.#isShared) return null;
    return { first: kind === "oldest_message" && this.#haveDeadLetters ? null : this.#others.first(kind) };
  }

  /** Whether dead letters have come to any shard that this one knows of. */
  get #haveDeadLetters(): boolean {
    return this.#hasDeadLetters() !== null || this.#others.first("dead_letters") !== null;
  }

  /** Until when nothing is reported to the webhook, in ms. Shard 0 alone applies it. */
  get #silentUntilMs(): number {
    if (this.#context.shard > 0) return 0;
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
        return this.#failsOften(nowMs);
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
    // Dead letters grow old, and have an alert of their own.
    if (seconds === undefined || this.#isEmpty || this.#haveDeadLetters) return null;
    if (this.#stored.states.oldest_message.on === null && nowMs < this.#oldestLookMs) return null;
    this.#oldestLookMs = oldestMs(this.#context.queue) + 1_000 * seconds;
    if (nowMs < this.#oldestLookMs) return null;
    return `the oldest message was sent more than ${span(1_000 * seconds)} ago and is not done`;
  }

  #failsOften(nowMs: number): string | null {
    const { failures } = this.#settings ?? {};
    if (failures === undefined || this.#deliveries === null) return null;
    const isOver = this.#isShared && nowMs >= this.#deliveriesEndMs;
    if (isOver) this.#deliveries.forget();
    const { failed, reason } = this.#deliveries;
    // An epoch with too few deliveries changes nothing, unless they are too long ago to count.
    if (failed === null) return isOver ? null : (this.#stored.states.failures.on?.text ?? null);
    if (failed <= failures.share * failures.deliveries) return null;
    const first = reason.split("\n", 1)[0] ?? "";
    const why = !this.#quotesFailures() ? "" : `, the latest: ${first.slice(0, REASON_LENGTH_MAX)}`;
    return `${failed} of the last ${failures.deliveries} deliveries${this.#ofShard} failed${why}`;
  }

  #standsStill(nowMs: number, isBusy: boolean): string | null {
    const seconds = this.#settings?.stalledSeconds;
    const sinceMs = this.#stillSinceMs;
    if (seconds === undefined || sinceMs === null || nowMs < sinceMs + 1_000 * seconds) return null;
    const on = this.#stored.states.stalled.on?.text ?? null;
    // What is under way, or has its turn next, may be delivered.
    if (isBusy || this.#isWaiting || on !== null) return on;
    const ready = plural(this.#context.queue.readyCount, "message");
    return `nothing${this.#ofShard} has been delivered since ${new Date(sinceMs).toISOString()}, with ${ready} ready`;
  }

  #moved(nowMs: number): void {
    this.#stillSinceMs = null;
    this.#movedMs = nowMs;
  }

  /** Notes since when messages are due and none is delivered, although there is a consumer and nothing is paused. */
  #lookStill(nowMs: number, isBusy: boolean): void {
    // A delivery counts when it has ended, and a shard that waits may be lent a place: until then what is noted stays,
    // as after a restart.
    const isHeld = isBusy || this.#isWaiting;
    const dueMs = isHeld ? null : this.#dueMs();
    // What held the queue back has ended now.
    if (!this.#wasFree) this.#movedMs = nowMs;
    this.#wasFree = dueMs !== null;
    if (isHeld) return;
    if (dueMs === null || dueMs > nowMs) this.#moved(nowMs);
    else this.#stillSinceMs ??= Math.max(dueMs, this.#movedMs);
  }

  /** Since when the first message could be delivered if the consumer took it, in ms; `null` if none could. */
  #dueMs(): number | null {
    const { definition, queue } = this.#context;
    const consumer = definition?.consumer ?? null;
    if (consumer === null || consumer.type === "http_pull" || definition?.deliveryPaused === true)
      return null;
    // A queue at its rate delivers each second. A shard whose consumer is away has given back its part of the
    // deliveries, and has no place for one.
    return isForWorkerDaemon(definition) ? firstReadyMs(queue) : batchDueAt(queue);
  }

  /** Whether it is a shard whose turn has not come. */
  get #isWaiting(): boolean {
    return this.#parts().part?.isWaiting === true;
  }

  /** Reports that an alert has begun or ended: shard 0 to the webhook, others to shard 0. */
  #notify(kind: AlertKind, change: AlertChange, nowMs: number): void {
    const { shard, queueName } = this.#context;
    if (shard === 0) {
      this.#report(reportOf(queueName, kind, change));
      return;
    }
    const note = { kind, on: change.what === "begun" ? change.of : null };
    const record = shardAlertRecord(note, this.#context.newMessageId(), nowMs);
    this.#parts().outbox.passOn(queueName, ALERTS_QUEUE, [record]);
  }

  #report(report: QueueReport): void {
    const { name, log, nowMs } = this.#context;
    const id = this.#context.newMessageId();
    this.#parts().outbox.put(ALERTS_QUEUE, [reportRecord(report, this.#settings?.format, id, nowMs)]);
    const alert = `Queue "${name}": alert ${report.kind}`;
    // The text is that of the beginning.
    if (report.type === "alert.begun") log.warn(`${alert} has begun: ${report.text}`);
    else log.info(`${alert} has ended, which was: ${report.text}`);
  }
}
