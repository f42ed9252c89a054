import { advance, nextBatchAt, nextExpiryAt, nextWakeAt } from "@sluice/engine";
import type { NextMoment } from "@sluice/protocol";
import type { Alerts } from "../alerts/alerts.ts";
import type { PeriodicTasks } from "../endpoint/periodic-tasks.ts";
import type { WorkerDaemon } from "../endpoint/worker-daemon.ts";
import type { PushDispatcher } from "../push/dispatcher.ts";
import type { Attempts } from "../receive/attempts.ts";
import type { Receivers } from "../receive/receivers.ts";
import type { Deduplication } from "../send/deduplication.ts";
import type { Moves } from "../transfer/moves.ts";
import type { Outbox } from "../transfer/outbox.ts";
import type { QueueContext } from "../turn/context.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { AwakeTime } from "../usage/awake-time.ts";

export interface WakePorts {
  /** Sets the one alarm, to a moment of the queue's clock. */
  setAlarm(atMs: number): void;
  /**
   * Calls the queue's `wake` at a moment of its clock, if the object lives that long: for calls that wait in it, and
   * end with it. Unlike an alarm it costs no row.
   */
  setTimer(atMs: number): void;
  /** Longest time until the alarm rings while a delivery or a transfer runs, in ms. */
  readonly heartbeatMs: number;
  /** Told whether anything is under way that keeps the object from sleeping. */
  readonly awake: AwakeTime;
}

/** A queue with the parts that have something to do at a moment. */
export interface TimedQueue extends QueueContext {
  readonly dispatcher: PushDispatcher;
  readonly throttle: Throttle;
  readonly daemon: WorkerDaemon;
  readonly tasks: PeriodicTasks;
  readonly outbox: Outbox;
  readonly moves: Moves;
  readonly deduplication: Deduplication;
  readonly attempts: Attempts;
  readonly receivers: Receivers;
  readonly alerts: Alerts;
  readonly part: { readonly lookAtMs: number | null } | null;
}

/**
 * Sets the one alarm to the next moment at which anything is due, and the timer for receivers that wait for messages.
 *
 * @param isRinging whether the alarm's handler runs. If the object ends meanwhile, the platform rings again, unless
 *   another alarm is set. So while anything is under way no alarm is set for it, nor for what is due later than
 *   `heartbeatMs`.
 * @returns whether an alarm is set.
 */
export function armNextWake(timed: TimedQueue, ports: WakePorts, isRinging = false): boolean {
  const { dispatcher, deduplication, attempts, receivers } = timed;
  const heartbeatMs = timed.nowMs + ports.heartbeatMs;
  const isHeld = isRinging && isAwake(timed);
  const atMs = earliest([
    ...workMoments(timed),
    dispatcher.lookAtMs,
    deduplication.forgetAtMs,
    attempts.forgetAtMs,
    timed.alerts.dueAtMs,
    timed.history.dueAtMs,
    isBusy(timed) && !isRinging ? heartbeatMs : null,
  ]);
  const isSet = atMs !== null && !(isHeld && atMs > heartbeatMs);
  if (isSet) ports.setAlarm(atMs);
  const { wakeAtMs } = receivers;
  ports.awake.hold(wakeAtMs !== null || isAwake(timed));
  if (wakeAtMs !== null) ports.setTimer(wakeAtMs);
  return isSet;
}

/**
 * Finds the moment when something happens to a message next if no call comes. Messages that are not pushed become
 * visible.
 */
export function nextMomentOf(timed: TimedQueue): NextMoment {
  // No turn does so in a queue without consumer and receivers.
  advance(timed.queue, timed.nowMs);
  const visibleAtMs = timed.dispatcher.open ? null : (timed.queue.delayed.peek()?.atMs ?? null);
  const expiresAtMs = nextExpiryAt(timed.queue);
  return {
    atMs: earliest([...workMoments(timed), visibleAtMs]),
    isBusy: isUnderWay(timed),
    ...(expiresAtMs === null ? {} : { expiresAtMs }),
  };
}

/**
 * When something is delivered or transferred next if no message is sent, in ms; `null` if nothing will be. Neither
 * the end of a lease or of a retention period is work, nor is what a schedule sends for ever.
 */
export function nextWorkMsOf(timed: TimedQueue): number | null {
  const { dispatcher, throttle, daemon, outbox, moves } = timed;
  const batchAtMs = dispatcher.open ? nextBatchAt(timed.queue) : null;
  return earliest([
    batchAtMs === null ? null : Math.max(batchAtMs, throttle.nextMs),
    dispatcher.retryAtMs,
    daemonAtMs(daemon, timed.nowMs),
    outbox.retryAtMs,
    moves.dueAtMs,
  ]);
}

/** When messages are due, or work on them; `null` for what does not come by itself. */
function workMoments(timed: TimedQueue): (number | null)[] {
  const { dispatcher, throttle, daemon, tasks, outbox, moves } = timed;
  return [
    nextWakeAt(timed.queue, false),
    dispatcher.open ? nextBatchAtMs(timed, throttle) : null,
    dispatcher.overdueAtMs,
    dispatcher.retryAtMs,
    daemonAtMs(daemon, timed.nowMs),
    tasks.dueAtMs,
    outbox.retryAtMs,
    moves.dueAtMs,
    timed.part?.lookAtMs ?? null,
  ];
}

/** Whether anything is under way whose end may change what comes next. */
export function isUnderWay(parts: Pick<TimedQueue, "dispatcher" | "outbox" | "moves" | "daemon">): boolean {
  return isBusy(parts) || parts.daemon.busy;
}

/** Whether anything is under way that keeps the object awake. */
export function isAwake({
  dispatcher,
  outbox,
  moves,
  daemon,
}: Pick<TimedQueue, "dispatcher" | "outbox" | "moves" | "daemon">): boolean {
  return dispatcher.isAwake || outbox.busy || moves.busy || daemon.busy;
}

function isBusy({ dispatcher, outbox, moves }: Pick<TimedQueue, "dispatcher" | "outbox" | "moves">): boolean {
  return dispatcher.busy || outbox.busy || moves.busy;
}

function earliest(moments: readonly (number | null)[]): number | null {
  const set = moments.filter((moment) => moment !== null);
  return set.length === 0 ? null : Math.min(...set);
}

/** When the next batch may be delivered, in ms; `null` if none waits. */
function nextBatchAtMs({ queue }: QueueContext, throttle: Throttle): number | null {
  const wakeMs = nextWakeAt(queue, true);
  return wakeMs === null ? null : Math.max(wakeMs, throttle.nextMs);
}

/**
 * When the worker daemon has something to do. While all its connections are taken, the end of a request starts a turn:
 * then an alarm is needed only in case the object crashes.
 */
function daemonAtMs({ wakeAtMs, deliverer }: WorkerDaemon, nowMs: number): number | null {
  const isFull = deliverer?.free === 0;
  return wakeAtMs !== null && isFull ? Math.max(wakeAtMs, nowMs + HEARTBEAT_MS) : wakeAtMs;
}
