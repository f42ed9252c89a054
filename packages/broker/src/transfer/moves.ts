import {
  acknowledge,
  advance,
  DELIVERY_BYTES_MAX,
  lease,
  type MessagePosition,
  release,
  removeMessage,
} from "@sluice/engine";
import {
  type CancelMoveReply,
  MOVE_MS_MAX,
  type MoveFailure,
  type MoveSelection,
  type MoveTask,
  type NewMove,
  type StartMoveReply,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { Backoff } from "../platform/backoff.ts";
import { traceOf } from "../platform/log.ts";
import { decodeChecked, encodeChecked } from "../store/checked-json.ts";
import type { QueueContext } from "../turn/context.ts";
import { depart, destinationsOf } from "./departure.ts";
import type { Outbox } from "./outbox.ts";

/** Most tasks of a queue that are remembered. */
export const MOVES_KEPT_MAX = 10;
/** Most messages that one commit moves. */
const MOVED_AT_ONCE_MAX = 500;

/** Key of the note with the tasks. A contract: stored data depends on it and on the JSON of `MoveTask`. */
const NOTE_KEY = "moves";

export interface MovesPorts {
  /** Whether a queue of that name exists. */
  queueExists(queue: string): Promise<boolean>;
}

/** Finds waiting messages behind a place, up to `max` messages and about `bytesMax` bytes. */
export type FindWaiting = (
  selection: MoveSelection,
  after: MessagePosition | undefined,
  max: number,
  bytesMax: number,
) => {
  readonly positions: readonly MessagePosition[];
  /** Message at which it ended; `null` at the end of the queue. */
  readonly last: MessagePosition | null;
};

/** Messages that a step of a task has taken. */
interface Taken {
  readonly positions: readonly MessagePosition[];
  /** Removes the messages from the queue, except those that stay. */
  leave(staying: ReadonlySet<MessagePosition>): void;
  /** Puts the messages back. */
  stay(): void;
}

/** Search for messages of a selection. An epoch begins it anew. */
interface Search {
  readonly taskId: string;
  readonly after: MessagePosition | undefined;
  /** End of the search: the id of the first segment that is newer than it. */
  readonly endId: number;
  /** Number of messages so far that may not leave. */
  readonly stayed: number;
}

/** Selection for a task without one that has to look at each message, because not all may leave (`mayReach`). */
const READY: MoveSelection = { filter: [{ field: "state", state: "ready" }] };

/**
 * Move tasks, which move ready messages to another queue, or back to the queues that dead-lettered them (spec sqs 6.4).
 * One commit removes messages, puts them into the outbox and counts them, so no crash loses or doubles one. The next
 * messages are taken when the last ones have arrived.
 */
export class Moves {
  readonly #context: QueueContext;
  readonly #outbox: Outbox;
  readonly #ports: MovesPorts;
  /** Tasks, newest first. */
  #tasks: MoveTask[] = [];
  #isStepping = false;
  /** Search of the task that looks for messages. */
  #search: Search | null = null;
  readonly #find: FindWaiting;
  /** Backoff of asking which queues exist. */
  readonly #backoff = new Backoff();

  constructor(
    context: QueueContext,
    { outbox, find }: { readonly outbox: Outbox; readonly find: FindWaiting },
    ports: MovesPorts,
  ) {
    this.#context = context;
    this.#outbox = outbox;
    this.#find = find;
    this.#ports = ports;
  }

  /** Takes over the tasks of earlier epochs. */
  restore(key: string, bytes: Uint8Array): void {
    if (key !== NOTE_KEY) return;
    try {
      this.#tasks = decodeChecked(bytes) as MoveTask[];
    } catch (error) {
      this.#context.log.error(
        `Queue "${this.#context.name}": its move tasks are damaged and forgotten: ${error}`,
      );
    }
  }

  list(): readonly MoveTask[] {
    return this.#tasks;
  }

  begin(move: NewMove): Promise<StartMoveReply> {
    return this.#context.submit(() => {
      if (this.#active !== undefined) return { ok: false, reason: "active" };
      const { queue, nowMs } = this.#context;
      // Messages may have become visible, or too old, since the last turn.
      this.#context.passTime();
      advance(queue, nowMs);
      const [startedMs, toMove] = [nowMs, mostToMove(move, queue)];
      const task: MoveTask = { ...move, status: "running", startedMs, moved: 0, toMove, failure: null };
      this.#tasks = [task, ...this.#tasks].slice(0, MOVES_KEPT_MAX);
      this.#write();
      return { ok: true, task };
    });
  }

  /** Cancels a task. Messages that have left the queue do not come back. */
  cancel(taskId: string): Promise<CancelMoveReply> {
    return this.#context.submit(() => {
      const known = this.#tasks.find((task) => task.taskId === taskId);
      if (known === undefined) return { ok: false, reason: "unknown" };
      if (known !== this.#active) return { ok: false, reason: "notActive" };
      return { ok: true, task: this.#change(known, { status: "cancelled" }) };
    });
  }

  /** Time in ms at which the next messages may leave; `null` without a task, or while others are on their way. */
  get dueAtMs(): number | null {
    const task = this.#active;
    if (task === undefined || this.#isStepping || this.#outbox.hasOwn) return null;
    const { ratePerSecond, startedMs, moved } = task;
    const nextMs =
      ratePerSecond === null ? this.#context.nowMs : startedMs + Math.ceil((1_000 * moved) / ratePerSecond);
    return this.#backoff.failing ? Math.max(nextMs, this.#backoff.retryAtMs) : nextMs;
  }

  /** Whether a step is running. */
  get busy(): boolean {
    return this.#isStepping;
  }

  /** After a commit: begins a step if messages may leave now. */
  start(): void {
    const { dueAtMs } = this;
    if (dueAtMs !== null && dueAtMs <= this.#context.nowMs) void this.#step();
  }

  get #active(): MoveTask | undefined {
    return this.#tasks.find((task) => task.status === "running");
  }

  /** Moves the messages of one commit. Asks first which targets exist, because a transfer would create one. */
  async #step(): Promise<void> {
    this.#isStepping = true;
    try {
      const existing = new Map<string, boolean>();
      let unknown = this.#targets();
      while (unknown.length > 0) {
        for (const target of unknown) existing.set(target, await this.#ports.queueExists(target));
        unknown = await this.#context.submit(() => this.#move(existing));
      }
      this.#backoff.succeeded();
    } catch (error) {
      this.#backoff.failed(this.#context.nowMs);
      this.#context.log.error(
        `Queue "${this.#context.name}": messages cannot be moved now: ${traceOf(error)}`,
      );
    }
    this.#isStepping = false;
    this.#context.rearm();
  }

  /** Lists the queues whose existence is asked about first. `#move` may return others. */
  #targets(): string[] {
    const task = this.#active;
    return task === undefined ? [] : [task.target ?? this.#context.queueName];
  }

  /** Within a turn: moves messages. @returns targets whose existence has to be known first; then nothing has moved. */
  #move(existing: ReadonlyMap<string, boolean>): string[] {
    const task = this.#active;
    if (task === undefined) return [];
    const { nowMs } = this.#context;
    this.#context.passTime();
    if (nowMs >= task.startedMs + MOVE_MS_MAX) return this.#fail(task, "tookTooLong");
    if (task.target !== null && existing.get(task.target) === false)
      return this.#fail(task, "targetNotFound");
    const { selection = task.mayReach === undefined ? undefined : READY } = task;
    const taken = selection === undefined ? this.#takeFirst(task) : this.#takeSelected(task, selection);
    if (taken === null) return this.#end(task);
    const destinations = destinationsOf(this.#context, taken.positions, task);
    if (destinations === null) {
      taken.stay();
      return this.#fail(task, "sourceUnknown");
    }
    const { moving, staying } = destinations;
    const targets = [...new Set(moving.map(({ target }) => target))];
    const unknown = targets.filter((target) => !existing.has(target));
    const isGone = targets.some((target) => existing.get(target) === false);
    if (unknown.length > 0 || isGone) {
      taken.stay();
      return isGone ? this.#fail(task, "targetNotFound") : unknown;
    }
    for (const target of targets) {
      const leaving = moving.filter((message) => message.target === target);
      this.#outbox.put(target, depart(this.#context, target, leaving));
    }
    taken.leave(staying);
    const moved = task.moved + taken.positions.length - staying.size;
    if (moved >= task.toMove) this.#change(task, { status: "completed", ...this.#counts(task, moved) });
    else if (moved > task.moved) this.#change(task, { moved, ...this.#stayed(task) });
    return [];
  }

  /** Ends a task that finds no further message. */
  #end(task: MoveTask): string[] {
    const counts = this.#counts(task, task.moved);
    if (counts.stayed !== undefined) return this.#fail(task, "notAllowed", counts);
    this.#change(task, { status: "completed", ...counts });
    return [];
  }

  /** Takes the first ready messages; `null` if there are none. */
  #takeFirst(task: MoveTask): Taken | null {
    const { queue, nowMs } = this.#context;
    const request = { max: this.#allowed(task), expiresMs: nowMs + 1, bytesMax: DELIVERY_BYTES_MAX };
    const batch = lease(queue, { ...request, kind: "pull" }, nowMs);
    if (batch === null) return null;
    const ranges = batch.slices.map((slice) => ({ ...slice, leaseId: batch.leaseId }));
    return {
      positions: ranges.flatMap(({ segmentId, from, to }) =>
        Array.from({ length: to - from }, (_, i) => ({ segmentId, index: from + i })),
      ),
      leave: () => {
        for (const range of ranges) acknowledge(queue, range);
      },
      stay: () => {
        for (const range of ranges) release(queue, range, nowMs, nowMs);
      },
    };
  }

  /**
   * Takes the next messages of a selection, none if the time of a step ends before one is found; `null` at the end of
   * the search.
   */
  #takeSelected(task: MoveTask, selection: MoveSelection): Taken | null {
    const { queue } = this.#context;
    if (this.#search?.taskId !== task.taskId) {
      this.#search = { taskId: task.taskId, after: undefined, endId: queue.nextSegmentId, stayed: 0 };
    }
    const { after, endId, stayed } = this.#search;
    if (after !== undefined && after.segmentId >= endId) return null;
    const { positions, last } = this.#find(selection, after, this.#allowed(task), DELIVERY_BYTES_MAX);
    const mine = positions.filter(({ segmentId }) => segmentId < endId);
    if (mine.length === 0 && last === null) return null;
    const { taskId } = task;
    return {
      positions: mine,
      leave: (staying) => {
        for (const position of mine) if (!staying.has(position)) removeMessage(queue, position);
        const next = last ?? { segmentId: endId, index: 0 };
        this.#search = { taskId, after: next, endId, stayed: stayed + staying.size };
      },
      stay: () => {},
    };
  }

  /** Makes the counts of a task at its end, since a selection's number of messages is not known before. */
  #counts(task: MoveTask, moved: number): Pick<MoveTask, "moved" | "toMove" | "stayed"> {
    const counted = this.#stayed(task);
    const known = moved + (counted.stayed ?? 0);
    const toMove = task.selection === undefined ? task.toMove : Math.min(task.toMove, known);
    return { moved, toMove, ...counted };
  }

  /** Makes the count of messages that had to stay, as far as this epoch has looked; empty for none. */
  #stayed({ taskId }: MoveTask): Pick<MoveTask, "stayed"> {
    const stayed = this.#search?.taskId === taskId ? this.#search.stayed : 0;
    return stayed === 0 ? {} : { stayed };
  }

  #allowed({ ratePerSecond, startedMs, moved, toMove }: MoveTask): number {
    const left = Math.max(1, toMove - moved);
    if (ratePerSecond === null) return Math.min(left, MOVED_AT_ONCE_MAX);
    const byNow = Math.floor(((this.#context.nowMs - startedMs) * ratePerSecond) / 1_000) + 1;
    // The rate of a shard's part may be a fraction.
    return Math.max(1, Math.floor(Math.min(left, ratePerSecond, byNow - moved)));
  }

  #fail(task: MoveTask, failure: MoveFailure, counts: Partial<MoveTask> = {}): string[] {
    this.#change(task, { ...counts, status: "failed", failure });
    this.#context.log.warn(
      `Queue "${this.#context.name}": a move task has failed after ${plural(task.moved, "message")}: ${failure}`,
    );
    return [];
  }

  #change(
    task: MoveTask,
    change: Partial<Pick<MoveTask, "moved" | "toMove" | "stayed" | "failure" | "status">>,
  ): MoveTask {
    const changed = { ...task, ...change };
    this.#tasks = this.#tasks.map((known) => (known === task ? changed : known));
    this.#write();
    return changed;
  }

  #write(): void {
    const bytes = encodeChecked(this.#tasks);
    this.#context.write(() => this.#context.store.writeNote(NOTE_KEY, bytes));
  }
}

/** Counts the messages that a move takes at most. */
function mostToMove({ selection }: NewMove, { readyCount, delayedCount }: QueueContext["queue"]): number {
  if (selection === undefined) return readyCount;
  const { only, limit = Infinity } = selection;
  return Math.min(readyCount + delayedCount, only?.length ?? Infinity, limit);
}
