import type { CommitRecord } from "./change.ts";
import type { Message } from "./message.ts";
import { CATCH_UP_MS_MAX, lastMomentMs, runOfTag, type TaskRun, tasksOf } from "./tasks.ts";

/** Runs of periodic tasks that a queue has made. */
export class TaskRuns {
  /** Runs that the last commit should have made, and has not. */
  missed: readonly TaskRun[] = [];
  /** Moment up to which the runs of each periodic task were made or given up, in ms, by the task's name. */
  readonly doneMs = new Map<string, number>();

  /** Enters a commit. A task's runs count from the first commit with that task; those missed too long are given up. */
  enter({ atMs, definition, isThere }: CommitRecord, accepted: readonly Message[]): void {
    const names = (isThere ? tasksOf(definition) : []).map(({ name }) => name);
    for (const name of this.doneMs.keys()) if (!names.includes(name)) this.doneMs.delete(name);
    const made = accepted.flatMap(({ tag }) => runOfTag(tag) ?? []);
    this.missed = names.flatMap((name) => {
      const doneMs = this.doneMs.get(name) ?? atMs;
      const scheduledMs = lastMomentMs(name, atMs);
      this.doneMs.set(name, Math.max(doneMs, scheduledMs));
      if (scheduledMs <= doneMs || atMs - scheduledMs >= CATCH_UP_MS_MAX) return [];
      return made.some((run) => run.name === name && run.scheduledMs === scheduledMs)
        ? []
        : [{ name, scheduledMs }];
    });
  }
}
