import { CATCH_UP_MS_MAX, lastMomentMs, runOfTag, tasksOf } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/**
 * A periodic task runs at each moment of its schedule, once: not early, not twice, not out of order. The last run that was
 * missed is made up for if that is not too long ago, and the ones before it are not (spec sqsd 8.5, 8.6).
 */
export const periodicTasks: Checker = {
  property: "periodic tasks",

  committed({ ledger }, { accepted, record }) {
    const { atMs, definition } = record;
    for (const { tag, copies } of accepted) {
      const run = runOfTag(tag);
      if (run === null) continue;
      const { name, scheduledMs } = run;
      if (copies > 1) return `the run of "${name}" at ${scheduledMs} is stored ${copies} times`;
      if (!tasksOf(definition).some((task) => task.name === name)) return `"${name}" runs and is no task`;
      if (lastMomentMs(name, scheduledMs) !== scheduledMs) return `"${name}" runs at ${scheduledMs}`;
      if (scheduledMs > atMs) return `"${name}" runs ${scheduledMs - atMs} ms early`;
      if (atMs - scheduledMs >= CATCH_UP_MS_MAX) return `"${name}" runs ${atMs - scheduledMs} ms late`;
    }
    const missed = ledger.taskRuns.missed[0];
    return missed && `the run of "${missed.name}" at ${missed.scheduledMs} is left out`;
  },
};
