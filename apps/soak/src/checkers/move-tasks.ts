import { MOVE_MS_MAX, type MoveTask, type NewMove } from "@sluice/protocol";
import type { AppliedCommit } from "../ledger/applied-commit.ts";
import { isNotification } from "../ledger/change.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { Checker } from "./checker.ts";

/** Tag of no message: the first one is 1. */
const NO_TAG = 0;

/**
 * A move task takes visible messages out, transfers them and counts them, all in one commit and within its rate; each
 * message arrives once, in the queue that it died in or in the task's target. A task ends when it is cancelled, when
 * nothing is left, or with a failure that has a reason, and never changes after that (spec sqs 6.4).
 */
export const moveTasks: Checker = {
  property: "move tasks",

  committed(queue, commit) {
    return (
      changedTasks(queue, commit) ??
      countedWrong(commit) ??
      goesElsewhere(queue, commit) ??
      cameTwice(queue, commit)
    );
  },

  described({ ledger, disk }, { lastMove }) {
    if (!disk.isSynced) return undefined;
    const [stored = null] = ledger.moveTasks;
    return JSON.stringify(lastMove) === JSON.stringify(stored)
      ? undefined
      : `${JSON.stringify(lastMove)} is told as the last move task, ${JSON.stringify(stored)} is stored`;
  },

  cancelled({ ledger }, { taskId }) {
    const task = ledger.moveTasks.find((task) => task.taskId === taskId);
    return task?.status === "running"
      ? `move task "${taskId}" goes on after its end was answered`
      : undefined;
  },
};

function changedTasks(queue: QueueObject, commit: AppliedCommit): string | undefined {
  const { tasksBefore, record } = commit;
  if (record.moveTasks === null) return undefined;
  const running = record.moveTasks.filter(({ status }) => status === "running");
  if (running.length > 1) return `${running.length} move tasks run at a time`;
  for (const [i, task] of record.moveTasks.entries()) {
    const before = tasksBefore.find(({ taskId }) => taskId === task.taskId);
    const wrong =
      (before === undefined ? began(queue, commit, task, i) : undefined) ??
      wentOn(queue, commit, before ?? { ...task, status: "running", moved: 0 }, task);
    if (wrong !== undefined) return `move task "${task.taskId}" ${wrong}`;
  }
  const kept = new Set(record.moveTasks.map(({ taskId }) => taskId));
  const lost = tasksBefore.find(({ taskId, status }) => status === "running" && !kept.has(taskId));
  return lost && `move task "${lost.taskId}" is forgotten while it runs`;
}

function began(queue: QueueObject, commit: AppliedCommit, task: MoveTask, place: number): string | undefined {
  const { record } = commit;
  const asked = queue.movesAskedFor.get(task.taskId);
  if (asked === undefined || !isSameMove(asked, task)) return "is another one than was asked for";
  // The newest task comes first. In second place it has begun and ended in the commit that began the next one.
  if (place > 1) return `is in place ${place} of those of its queue`;
  if (task.startedMs !== record.atMs) return `is ${record.atMs - task.startedMs} ms old at its begin`;
  // If the commit wrote no messages, those that are visible now were visible when the task began.
  if (record.segments.length > 0 || record.outboxIn.length > 0) return undefined;
  let visible = 0;
  for (const { view } of queue.ledger.present()) {
    if (view.status === "waiting" && view.atMs <= record.atMs) visible += 1;
  }
  return task.toMove === visible ? undefined : `is to move ${task.toMove} messages, ${visible} are visible`;
}

function isSameMove(a: NewMove, b: NewMove): boolean {
  const isSame = a.target === b.target && a.fallback === b.fallback && a.ratePerSecond === b.ratePerSecond;
  return isSame && `${a.mayReach}` === `${b.mayReach}`;
}

function wentOn(
  queue: QueueObject,
  { record, changes }: AppliedCommit,
  before: MoveTask,
  task: MoveTask,
): string | undefined {
  const { world, ledger, definition } = queue;
  if (before.status !== "running") {
    return JSON.stringify(before) === JSON.stringify(task) ? undefined : "changes after its end";
  }
  const isSame = task.startedMs === before.startedMs && task.toMove === before.toMove;
  if (!isSame || !isSameMove(before, task)) return "changes what it is to do";
  if (task.moved < before.moved) return `counts back from ${before.moved} to ${task.moved}`;
  const { ratePerSecond, moved, startedMs } = task;
  const elapsedMs = record.atMs - startedMs;
  if (ratePerSecond !== null && moved > before.moved && moved > 1 + (elapsedMs * ratePerSecond) / 1_000) {
    return `has moved ${moved} messages in ${elapsedMs} ms, ${ratePerSecond} a second may be`;
  }
  switch (task.status) {
    case "running":
      return undefined;
    case "cancelled":
      return queue.movesCancelled.has(task.taskId) ? undefined : "was cancelled by nobody";
    case "completed": {
      // A visible message of a FIFO queue may have to wait for an invisible one.
      if (moved >= task.toMove || definition.fifo !== undefined) return undefined;
      // A task with `mayReach` passes through the queue once, and what was leased as it passed stays.
      if (task.mayReach !== undefined) return undefined;
      // Others may have become visible behind it in the same turn.
      const changed = new Set(changes.map(({ message }) => message));
      for (const message of ledger.present()) {
        const { view, tag } = message;
        if (view.status === "waiting" && view.atMs < record.atMs && !changed.has(message))
          return `is over although message ${tag} waits`;
      }
      return undefined;
    }
    case "failed":
      switch (task.failure) {
        case "tookTooLong":
          return elapsedMs >= MOVE_MS_MAX ? undefined : `is given up after ${elapsedMs} ms`;
        case "targetNotFound":
          return world.queues.some((other) => other.mayBeMissing)
            ? undefined
            : "misses a queue that is there";
        case "sourceUnknown":
          return task.target === null && task.fallback === undefined
            ? undefined
            : "does not know where messages come from, and was told where they go";
        case "notAllowed":
          return task.mayReach !== undefined && (task.stayed ?? 0) > 0
            ? undefined
            : "says that messages had to stay, and none had to";
        default:
          return "has failed without a reason";
      }
  }
}

/** As many messages are counted as are transferred, and none is moved after its retention. */
function countedWrong({ record, tasksBefore, changes }: AppliedCommit): string | undefined {
  const moved = changes.filter(
    ({ message, before, after }) =>
      message.departure === "moved" && before.status !== "gone" && after.status === "gone",
  );
  const late = moved.find(({ message }) => message.acceptedMs + record.rules.retentionMs <= record.atMs);
  if (late !== undefined) return `message ${late.message.tag} is moved after its retention`;
  const counted = (record.moveTasks ?? []).reduce((sum, task) => sum + movedNow(task, tasksBefore), 0);
  return counted === moved.length
    ? undefined
    : `${counted} messages are counted as moved, ${moved.length} are transferred`;
}

/** Messages that a task has counted as moved in a commit. */
function movedNow({ taskId, moved }: MoveTask, tasksBefore: readonly MoveTask[]): number {
  return moved - (tasksBefore.find((task) => task.taskId === taskId)?.moved ?? 0);
}

function goesElsewhere(
  queue: QueueObject,
  { pendingIn, record, tasksBefore }: AppliedCommit,
): string | undefined {
  const { world } = queue;
  for (const { tags, target, isMove } of pendingIn) {
    if (!isMove) continue;
    const isAsked = record.moveTasks?.some((task) => {
      if (movedNow(task, tasksBefore) === 0) return false;
      if (task.target !== null) return task.target === target;
      if (task.mayReach?.includes(target) === false) return false;
      return tags.every((tag) => {
        const source = diedIn(queue, world.moved.get(tag)?.tagBefore ?? NO_TAG);
        return (source ?? task.fallback) === target;
      });
    });
    if (isAsked !== true) return `messages are moved to "${target}", which no task has asked for`;
  }
  return undefined;
}

/**
 * The queue that a message of this one died in: the nearest of those before it that had the message, since queues come
 * before their dead-letter queues. `null` for a notification, which names none.
 */
function diedIn({ world, index }: QueueObject, tag: number): string | null {
  for (const { ledger, definition, name } of world.queues.slice(0, index).reverse()) {
    if (ledger.messages.has(tag) && !isNotification(definition)) return name;
  }
  return null;
}

function cameTwice({ world, name }: QueueObject, { accepted }: AppliedCommit): string | undefined {
  const twice = accepted.find(({ tag, copies }) => copies > 1 && world.moved.get(tag)?.target === name);
  return twice && `message ${twice.tag} was moved once and is taken ${twice.copies} times`;
}
