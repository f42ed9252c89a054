export {
  CATCH_UP_MS_DEFAULT,
  CATCH_UP_MS_MAX,
  CATCH_UP_RULES,
  type CatchUp,
  type CatchUpRule,
  type DueRuns,
  dueOf,
} from "./cron/due.ts";
export { Schedule, ScheduleError } from "./cron/schedule.ts";
export { pathOf, TASK_BODY, taskAttributes, taskOf } from "./cron/task-message.ts";
export type { DaemonMessage } from "./message.ts";
export { parseSqsdOptions, type SqsdOptions } from "./options.ts";
export { actionAfter, failureLine, type PostOutcome } from "./outcome.ts";
export { daemonRequest, withPath } from "./request.ts";
