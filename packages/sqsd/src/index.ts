export {
  CATCH_UP_MS_DEFAULT,
  CATCH_UP_MS_MAX,
  CATCH_UP_RULES,
  type CatchUp,
  type CatchUpRule,
  type DueRuns,
  dueOf,
} from "./cron/due.ts";
export { type DayRule, Schedule, ScheduleError } from "./cron/schedule.ts";

export { pathOf, TASK_BODY, taskAttributes, taskOf } from "./cron/task-message.ts";
export { type DaemonMessage, type PeriodicTask, RESERVED_ATTRIBUTES } from "./message.ts";

export {
  type ParsedSqsdOptions,
  parseSqsdOptions,
  SQSD_RANGES,
  type SqsdIssue,
  type SqsdOptions,
} from "./options.ts";
export { actionAfter, type DaemonAction, failureLine, type PostOutcome } from "./outcome.ts";
export {
  type DaemonRequest,
  daemonRequest,
  isoSeconds,
  type RequestSettings,
  withPath,
} from "./request.ts";
