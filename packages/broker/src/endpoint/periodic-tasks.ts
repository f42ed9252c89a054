import { encodeAttributes } from "@sluice/aws";
import { PackedIndex, type PeriodicTaskSettings, packMessages } from "@sluice/protocol";
import { dueOf, Schedule, TASK_BODY, taskAttributes } from "@sluice/sqsd";
import { enqueue } from "../enqueue.ts";
import type { QueueCore } from "../queue-core.ts";

const NOTE_KEY = "periodic-tasks";

/**
 * Sends the messages of periodic tasks to their worker daemon's queue (spec sqsd 8.6). Up to when each task has run is stored
 * in the commit that stores its message, so no crash and no alarm that rings twice makes a run twice or loses it. There is one
 * object for a queue: nobody has to be elected.
 */
export class PeriodicTasks {
  readonly #core: QueueCore;
  /** By task: the moment up to which its runs are made or given up, in ms. */
  #done = new Map<string, number>();
  #schedules = new Map<string, Schedule>();

  constructor(core: QueueCore) {
    this.#core = core;
  }

  /** Takes over what an earlier life has done. Answers whether the note was its. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (key !== NOTE_KEY) return false;
    const done = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, number>;
    this.#done = new Map(Object.entries(done));
    return true;
  }

  /** When the next task is due, in ms; `null` if there is none. */
  get dueAtMs(): number | null {
    const moments = this.#tasks.flatMap((task) => {
      const doneMs = this.#done.get(task.name);
      return doneMs === undefined ? this.#core.nowMs : (this.#scheduleOf(task).after(doneMs) ?? []);
    });
    return moments.length === 0 ? null : Math.min(...moments);
  }

  /** Within a turn: takes in a message for each task that is due. */
  run(nowMs: number): void {
    const tasks = this.#tasks;
    if (tasks.length === 0 && this.#done.size === 0) return;
    const done = new Map<string, number>();
    for (const task of tasks) done.set(task.name, this.#runOne(task, nowMs));
    // A task that was taken out and comes back begins anew.
    if (sameEntries(done, this.#done)) return;
    this.#done = done;
    const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(done)));
    this.#core.write(() => this.#core.ports.store.writeNote(NOTE_KEY, bytes));
  }

  get #tasks(): readonly PeriodicTaskSettings[] {
    const { ports, name } = this.#core;
    const consumer = ports.definitionOf(name)?.consumer;
    return consumer?.type === "http_push" ? (consumer.settings.daemon?.periodicTasks ?? []) : [];
  }

  #scheduleOf({ schedule, days = "or" }: PeriodicTaskSettings): Schedule {
    const key = `${days} ${schedule}`;
    const known = this.#schedules.get(key);
    if (known !== undefined) return known;
    const made = new Schedule(schedule, days);
    this.#schedules.set(key, made);
    return made;
  }

  /** Answers with the moment up to which the task's runs are made or given up now. */
  #runOne(task: PeriodicTaskSettings, nowMs: number): number {
    const doneMs = this.#done.get(task.name);
    // Its runs count from when it is first heard of.
    if (doneMs === undefined) return nowMs;
    const due = dueOf(this.#scheduleOf(task), doneMs, nowMs);
    switch (due.kind) {
      case "none":
        return doneMs;
      case "missed": {
        const when = new Date(due.atMs).toISOString();
        this.#core.ports.log.warn(
          `Queue "${this.#core.name}": task "${task.name}" was to run at ${when}, which is too long ago: it is left out`,
        );
        return due.atMs;
      }
      case "run":
        this.#send(task, due.atMs);
        return due.atMs;
    }
  }

  #send(task: PeriodicTaskSettings, scheduledMs: number): void {
    const attributes = encodeAttributes({
      attributes: taskAttributes({ ...task, scheduledMs }),
      traceHeader: null,
    });
    const packed = packMessages([
      {
        id: this.#core.newMessageId(),
        contentType: "text",
        body: new TextEncoder().encode(TASK_BODY),
        extension: {
          ...(attributes === undefined ? {} : { attributes }),
          isPeriodicTask: true,
          // Runs of a task follow each other.
          ...(this.#core.queue.isFifo
            ? { groupId: task.name, deduplicationId: `task:${task.name}:${scheduledMs}` }
            : {}),
        },
      },
    ]);
    enqueue(this.#core, { index: new PackedIndex(packed), delaySeconds: 0 });
  }
}

function sameEntries(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
