import { encodeAttributes } from "@sluice/aws";
import { isHeld, reserveSeq } from "@sluice/engine";
import { PackedIndex, type PeriodicTaskSettings, packMessages, type TaskRunSettings } from "@sluice/protocol";
import {
  CATCH_UP_MS_DEFAULT,
  type CatchUp,
  type DueRuns,
  dueOf,
  Schedule,
  TASK_BODY,
  taskAttributes,
} from "@sluice/sqsd";
import type { Intake } from "../send/intake.ts";
import { decodeChecked, encodeChecked } from "../store/checked-json.ts";
import type { QueueContext } from "../turn/context.ts";

/** Keys of the stored notes. A contract, since they are stored, as is their content: numbers by names of tasks. */
const NOTE_KEY = "periodic-tasks";
const LAST_RUNS_KEY = "periodic-tasks-last-runs";

/**
 * Sends the messages of periodic tasks to their worker daemon's queue (spec sqsd 8.6). The commit with a message also
 * stores up to when its task has run, so neither a crash nor an alarm that rings twice doubles or loses a run. A queue
 * has one object, so no leader is elected.
 */
export class PeriodicTasks {
  readonly #context: QueueContext;
  readonly #intake: Intake;
  /** Times in ms up to which the runs of a task are made or given up, by its name. */
  #done = new Map<string, number>();
  /** Sequence numbers of the latest messages of tasks whose runs must not overlap, by their names. */
  #lastRuns = new Map<string, number>();
  #schedules = new Map<string, Schedule>();

  constructor(context: QueueContext, intake: Intake) {
    this.#context = context;
    this.#intake = intake;
  }

  /** Takes over a note of an earlier epoch. @returns false for a note of another kind. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (key !== NOTE_KEY && key !== LAST_RUNS_KEY) return false;
    try {
      const noted = new Map(Object.entries(decodeChecked(bytes) as Record<string, number>));
      if (key === NOTE_KEY) this.#done = noted;
      else {
        this.#lastRuns = noted;
        for (const seq of noted.values()) reserveSeq(this.#context.queue, seq);
      }
    } catch (error) {
      const { log, store, name } = this.#context;
      const what =
        key === NOTE_KEY
          ? "when its tasks have run is damaged and forgotten, missed runs are not made up for"
          : "the last runs of its tasks are damaged and forgotten, the next ones may overlap them";
      log.error(`Queue "${name}": ${what}: ${error}`);
      this.#context.write(() => store.writeNote(key, null));
    }
    return true;
  }

  /** Time in ms at which the next task is due; `null` if there is none. */
  get dueAtMs(): number | null {
    const moments = this.#tasks.flatMap((task) => {
      const doneMs = this.#done.get(task.name);
      return doneMs === undefined ? this.#context.nowMs : (this.#scheduleOf(task).after(doneMs) ?? []);
    });
    return moments.length === 0 ? null : Math.min(...moments);
  }

  /** Within a turn: accepts a message for each task that is due. */
  run(nowMs: number): void {
    const tasks = this.#tasks;
    if (tasks.length === 0 && this.#done.size === 0) return;
    const done = new Map<string, number>();
    const lastRuns = new Map<string, number>();
    for (const task of tasks) {
      const { doneMs, lastRun } = this.#runOne(task, nowMs);
      done.set(task.name, doneMs);
      if (lastRun !== null) lastRuns.set(task.name, lastRun);
    }
    // A task that was removed and comes back begins anew.
    this.#done = this.#note(NOTE_KEY, done, this.#done);
    this.#lastRuns = this.#note(LAST_RUNS_KEY, lastRuns, this.#lastRuns);
  }

  /** Stores a note if it has changed. @returns its content. */
  #note(key: string, now: Map<string, number>, before: ReadonlyMap<string, number>): Map<string, number> {
    if (sameEntries(now, before)) return now;
    const bytes = now.size === 0 ? null : encodeChecked(Object.fromEntries(now));
    this.#context.write(() => this.#context.store.writeNote(key, bytes));
    return now;
  }

  get #daemon() {
    const consumer = this.#context.definition?.consumer;
    return consumer?.type === "http_push" ? consumer.settings.daemon : undefined;
  }

  get #tasks(): readonly PeriodicTaskSettings[] {
    return this.#daemon?.periodicTasks ?? [];
  }

  #scheduleOf({ schedule, days = "or" }: PeriodicTaskSettings): Schedule {
    const key = `${days} ${schedule}`;
    const known = this.#schedules.get(key);
    if (known !== undefined) return known;
    const made = new Schedule(schedule, days);
    this.#schedules.set(key, made);
    return made;
  }

  #runOne(task: PeriodicTaskSettings, nowMs: number): TaskNotes {
    const doneMs = this.#done.get(task.name);
    const rules = this.#daemon?.taskRuns ?? {};
    let lastRun = rules.overlap === "skip" ? (this.#lastRuns.get(task.name) ?? null) : null;
    // The runs of a new task count from now.
    if (doneMs === undefined) return { doneMs: nowMs, lastRun };
    const due = dueOf(this.#scheduleOf(task), doneMs, nowMs, catchUpOf(rules));
    this.#warnOfLeftOut(task, due, catchUpOf(rules));
    for (const runMs of due.made) {
      if (lastRun !== null && this.#isUnderWay(lastRun)) {
        this.#warn(task, runMs, "its last run is not done yet: this one is left out");
        continue;
      }
      const seq = this.#send(task, runMs);
      if (rules.overlap === "skip" && seq !== null) lastRun = seq;
    }
    return { doneMs: due.made.at(-1) ?? due.leftOutMs ?? doneMs, lastRun };
  }

  #warnOfLeftOut(task: PeriodicTaskSettings, { made, leftOutMs }: DueRuns, { rule }: CatchUp): void {
    if (leftOutMs === null) return;
    const reason =
      made.length > 0 && rule === "one" ? "only the last missed run is made" : "which is too long ago";
    this.#warn(task, leftOutMs, `${reason}: it is left out`);
  }

  #warn({ name }: PeriodicTaskSettings, runMs: number, what: string): void {
    const when = new Date(runMs).toISOString();
    this.#context.log.warn(`Queue "${this.#context.name}": task "${name}" was to run at ${when}, ${what}`);
  }

  /** Whether the message of a run is still in the queue. */
  #isUnderWay(seq: number): boolean {
    const { queue } = this.#context;
    // A message of this turn is not in the queue yet.
    return seq >= queue.nextSeq || isHeld(queue, seq);
  }

  /** Sends the message of a run. @returns its sequence number, `null` for a duplicate on a FIFO queue. */
  #send(task: PeriodicTaskSettings, scheduledMs: number): number | null {
    const seq = this.#intake.nextSeq;
    const attributes = encodeAttributes({
      attributes: taskAttributes({ ...task, scheduledMs }),
      traceHeader: null,
    });
    const packed = packMessages([
      {
        id: this.#context.newMessageId(),
        contentType: "text",
        body: new TextEncoder().encode(TASK_BODY),
        extension: {
          ...(attributes === undefined ? {} : { attributes }),
          isPeriodicTask: true,
          // One group for each task keeps its runs in order.
          ...(this.#context.queue.isFifo
            ? { groupId: task.name, deduplicationId: `task:${task.name}:${scheduledMs}` }
            : {}),
        },
      },
    ]);
    const [sent] = this.#intake.acceptNew({ index: new PackedIndex(packed), delaySeconds: 0 });
    return sent?.duplicate === false ? seq : null;
  }
}

/** Facts of a task to be stored. */
interface TaskNotes {
  /** Time in ms up to which its runs are made or given up. */
  readonly doneMs: number;
  /** Sequence number of its latest message; `null` for a task whose runs may overlap. */
  readonly lastRun: number | null;
}

function catchUpOf({ catchUp = "one", catchUpSeconds }: TaskRunSettings): CatchUp {
  return {
    rule: catchUp,
    windowMs: catchUpSeconds === undefined ? CATCH_UP_MS_DEFAULT : 1000 * catchUpSeconds,
  };
}

function sameEntries(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
