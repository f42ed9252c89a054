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
import type { QueueContext } from "../turn/context.ts";

/** Keys of the stored notes. The content of each is a contract: JSON, by names of tasks. */
const NOTE_KEY = "periodic-tasks";
const LAST_RUNS_KEY = "periodic-tasks-last-runs";

/**
 * Sends the messages of periodic tasks to their worker daemon's queue (spec sqsd 8.6). Up to when each task has run is
 * stored in the commit that stores its message, so no crash and no alarm that rings twice makes a run twice or loses
 * it. There is one object for a queue: nobody has to be elected.
 */
export class PeriodicTasks {
  readonly #context: QueueContext;
  readonly #intake: Intake;
  /** By task: the moment up to which its runs are made or given up, in ms. */
  #done = new Map<string, number>();
  /** By task whose runs must not overlap: the sequence number of its latest message. */
  #lastRuns = new Map<string, number>();
  #schedules = new Map<string, Schedule>();

  constructor(context: QueueContext, intake: Intake) {
    this.#context = context;
    this.#intake = intake;
  }

  /** Takes over what an earlier epoch has done. Answers whether the note was its. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (key !== NOTE_KEY && key !== LAST_RUNS_KEY) return false;
    const noted = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, number>;
    if (key === NOTE_KEY) this.#done = new Map(Object.entries(noted));
    else {
      this.#lastRuns = new Map(Object.entries(noted));
      for (const seq of this.#lastRuns.values()) reserveSeq(this.#context.queue, seq);
    }
    return true;
  }

  /** When the next task is due, in ms; `null` if there is none. */
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
    // A task that was taken out and comes back begins anew.
    this.#done = this.#noted(NOTE_KEY, done, this.#done);
    this.#lastRuns = this.#noted(LAST_RUNS_KEY, lastRuns, this.#lastRuns);
  }

  /** Stores what differs from what is stored. Answers with what is noted now. */
  #noted(key: string, now: Map<string, number>, before: ReadonlyMap<string, number>): Map<string, number> {
    if (sameEntries(now, before)) return now;
    const bytes = now.size === 0 ? null : new TextEncoder().encode(JSON.stringify(Object.fromEntries(now)));
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
    // Its runs count from when it is first heard of.
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

  /** Whether a run has neither been answered with 200 nor left the queue in another way. */
  #isUnderWay(seq: number): boolean {
    const { queue } = this.#context;
    // Or it came in this very turn.
    return seq >= queue.nextSeq || isHeld(queue, seq);
  }

  /** Answers with the sequence number of its message, `null` where a FIFO queue has had it already. */
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
          // Runs of a task follow each other.
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

/** State of a task after a look at it. */
interface TaskNotes {
  /** The moment up to which its runs are made or given up, in ms. */
  readonly doneMs: number;
  /** Sequence number of its latest message; `null` where nobody asks for it. */
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
