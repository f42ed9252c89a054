import { BACKOFF_MAX_MS } from "@sluice/broker/testing";
import { nextWakeAt } from "@sluice/engine";
import type { Message } from "../ledger/message.ts";
import { nextMomentMs, tasksOf } from "../ledger/tasks.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { Checker } from "./checker.ts";

/**
 * Whatever is due, something wakes the queue for it, even if its object crashes at this moment: an alarm is set for
 * the next thing to do, or earlier. While a consumer or another queue is out of reach, it may be later by the longest
 * backoff.
 */
export const alarmArmed: Checker = {
  property: "alarm armed",

  afterEvent(queue) {
    const workMs = queue.epoch?.core == null ? dueByLedger(queue) : dueByMemory(queue);
    const dueMs = Math.min(workMs, taskDueMs(queue), moveDueMs(queue));
    if (receiveDueMs(queue) < (queue.epoch?.timerAtMs ?? Infinity))
      return "nothing answers those who wait for messages in time";
    // The directory soon calls a queue that has not confirmed its record.
    if (queue.world.directory?.ledger.isTold(queue.name) === false || queue.isDropping) return undefined;
    // A directory would call a deleted queue again whose drop was lost. Without a directory it drops at its next start.
    if (queue.gone !== null && queue.durableRevision !== null) return undefined;
    if (dueMs === Infinity || queue.wakesBy(dueMs)) return undefined;
    const inMs = dueMs - queue.world.nowMs;
    const alarmInMs = queue.disk.alarmAtMs === null ? null : queue.disk.alarmAtMs - queue.world.nowMs;
    return (
      `something is due in ${inMs} ms, the alarm ` +
      `${alarmInMs === null ? "is not set" : `rings in ${alarmInMs} ms`}`
    );
  },
};

/** Time at which the first waiting receive has to be answered, in ms; a timer of the object does that. */
function receiveDueMs({ epoch, disk, receives }: QueueObject): number {
  // A turn that waits for the commit in flight sets the timer anew.
  return epoch?.core != null && disk.isSynced ? receives.deadlineMs : Infinity;
}

/** Time of the next run of the queue's periodic tasks, in ms. */
function taskDueMs({ ledger, definition, epoch, disk }: QueueObject): number {
  // A turn that waits for the commit in flight sets the alarm anew.
  if (epoch?.core != null && !disk.isSynced) return Infinity;
  const moments = tasksOf(definition).flatMap(({ name }) => {
    const doneMs = ledger.taskRuns.doneMs.get(name);
    return doneMs === undefined ? [] : [nextMomentMs(name, doneMs)];
  });
  return Math.min(...moments);
}

/** Time by which a move task has to go on, in ms; it may have to wait for another queue for the longest backoff. */
function moveDueMs({ ledger, world, disk }: QueueObject): number {
  const task = ledger.moveTasks.find(({ status }) => status === "running");
  // A turn that waits for the commit in flight sets the alarm anew.
  if (task === undefined || !disk.isSynced) return Infinity;
  const nextMs = task.ratePerSecond === null ? 0 : task.startedMs + (1_000 * task.moved) / task.ratePerSecond;
  return Math.max(Math.ceil(nextMs), world.nowMs + BACKOFF_MAX_MS);
}

/** Longest time that a throttle makes a ready message wait, in ms. */
const THROTTLED_MS_MAX = 1_001;

/** Whether a queue delivers to a consumer. While delivery is being resumed, the resuming call wakes the queue. */
function isDelivering({ called, settings }: QueueObject): boolean {
  return settings.delivery === "on" && called !== null;
}

function throttledUntilMs({ definition, world }: QueueObject): number {
  return definition.maxReceivesPerSecond === undefined ? 0 : world.nowMs + THROTTLED_MS_MAX;
}

function dueByMemory(object: QueueObject): number {
  const { epoch, ledger, disk, world, endpoint } = object;
  const { nowMs } = world;
  const core = epoch?.core;
  if (epoch === null || core == null) return Infinity;
  const { queue, isCaughtUp } = core;
  // A turn that waits for the commit in flight sets the alarm anew.
  const isIdle = disk.isSynced;
  const isHeld = object.heldUntilMs > nowMs;
  const isOpen =
    !isHeld && !epoch.consumerIsAbsent && epoch.trial.state === "none" && endpoint?.format !== "sqsd";
  // A turn that a settlement waits for sets it anew too.
  const isPushing = isDelivering(object) && isIdle && isOpen && isCaughtUp;
  let dueMs = nextWakeAt(queue, false) ?? Infinity;
  if (isDelivering(object)) {
    // A consumer that is away, or has as much as it can have, is tried again after the longest backoff or heartbeat.
    const notBeforeMs = isPushing ? throttledUntilMs(object) : nowMs + BACKOFF_MAX_MS;
    dueMs = Math.min(dueMs, Math.max(nextWakeAt(queue, true) ?? Infinity, notBeforeMs));
  }
  if (ledger.pendingBatches.size > 0) dueMs = Math.min(dueMs, nowMs + BACKOFF_MAX_MS);
  return dueMs;
}

/** Whether an earlier message of its group has to leave first. */
function waitsForOther({ ledger, definition }: QueueObject, { group, seq }: Message): boolean {
  if (definition.fifo === undefined) return false;
  for (const other of ledger.present()) if (other.group === group && other.seq < seq) return true;
  return false;
}

/** Like `dueByMemory`, of a queue without an object, from durable state: later, since its backoffs are unknown. */
function dueByLedger(object: QueueObject): number {
  const { ledger, world } = object;
  const { laxest } = object.settings;
  const { nowMs } = world;
  let dueMs = ledger.pendingBatches.size > 0 ? nowMs + BACKOFF_MAX_MS : Infinity;
  for (const message of ledger.present()) {
    const { view, acceptedMs } = message;
    if (view.status === "leased") dueMs = Math.min(dueMs, view.atMs);
    if (view.status !== "waiting") continue;
    dueMs = Math.min(dueMs, acceptedMs + laxest.retentionMs);
    if (!isDelivering(object) || waitsForOther(object, message)) continue;
    dueMs = Math.min(dueMs, Math.max(nowMs + BACKOFF_MAX_MS, view.atMs + laxest.batchTimeoutMs));
  }
  return dueMs;
}

/** Notes that expire after five minutes. */
const PASSING = ["attempt:", "deduplication:"];

/** Once nothing goes wrong any more, every message is handled or expires, within the time that its delays ask for. */
export const liveness: Checker = {
  property: "liveness",

  stuck(_queue, text) {
    return text;
  },

  atEnd({ epoch, rows, ledger }) {
    const left = epoch?.core?.queue.segments.size ?? 0;
    const stored = rows.segmentCount + ledger.pendingBatches.size;
    const note = rows.noteKeys.find((key) => PASSING.some((prefix) => key.startsWith(prefix)));
    if (note !== undefined) return `the note "${note}" is stored for ever`;
    if (left + stored === 0) return undefined;
    return `${left} segments are in memory and ${stored} rows are stored after everything was handled`;
  },
};
