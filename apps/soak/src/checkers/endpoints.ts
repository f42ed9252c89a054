import { answers } from "../ledger/endpoint-authorization.ts";
import { CATCH_UP_MS_MAX, lastMomentMs, runOfTag, tasksOf } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/**
 * Credentials go only to an endpoint that has asked for them, once for each challenge, and answer its last challenge
 * (spec sns-delivery 8.1).
 */
export const authorization: Checker = {
  property: "authorization",

  requested(_queue, { tag, url, authorization: given, challenge, credentials }) {
    if (challenge === null) {
      return given === null
        ? undefined
        : `the request of message ${tag} shows credentials that nobody has asked for`;
    }
    if (credentials === null || given === null) {
      return `the request of message ${tag} is made again without credentials`;
    }
    if (answers(given, challenge, credentials, url)) return undefined;
    return `the request of message ${tag} does not answer ${challenge.header} with ${given}`;
  },
};

/**
 * A periodic task runs at each moment of its schedule, once: not early, not twice, not out of order. The last run
 * that was missed is made up for if that is not too long ago, and the ones before it are not (spec sqsd 8.5, 8.6).
 */
export const periodicTasks: Checker = {
  property: "periodic tasks",

  accepted(_queue, { tag, copies }, { record: { atMs, definition } }) {
    const run = runOfTag(tag);
    if (run === null) return undefined;
    const { name, scheduledMs } = run;
    if (copies > 1) return `the run of "${name}" at ${scheduledMs} is stored ${copies} times`;
    if (!tasksOf(definition).some((task) => task.name === name)) return `"${name}" runs and is no task`;
    if (lastMomentMs(name, scheduledMs) !== scheduledMs) return `"${name}" runs at ${scheduledMs}`;
    if (scheduledMs > atMs) return `"${name}" runs ${scheduledMs - atMs} ms early`;
    return atMs - scheduledMs >= CATCH_UP_MS_MAX ? `"${name}" runs ${atMs - scheduledMs} ms late` : undefined;
  },

  committed({ ledger }) {
    const missed = ledger.taskRuns.missed[0];
    return missed && `the run of "${missed.name}" at ${missed.scheduledMs} is left out`;
  },
};
