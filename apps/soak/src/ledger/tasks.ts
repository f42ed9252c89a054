import type { PackedIndex, PeriodicTaskSettings, QueueDefinition } from "@sluice/protocol";

/** A run of a periodic task. Its tag follows from it, so two messages for one run are one message stored twice. */
export interface TaskRun {
  readonly name: string;
  /** In ms. */
  readonly scheduledMs: number;
}

interface Task {
  readonly settings: PeriodicTaskSettings;
  readonly everyMs: number;
}

/** All tasks. None changes its schedule with the settings: the tests of the broker look at such a change. */
const TASKS: readonly [Task, ...Task[]] = [
  { settings: { name: "sweep", url: "/tasks/sweep", schedule: "* * * * *" }, everyMs: 60_000 },
  { settings: { name: "check", url: "/tasks/check", schedule: "*/7 * * * *" }, everyMs: 420_000 },
  { settings: { name: "report", url: "/tasks/report", schedule: "0 * * * *" }, everyMs: 3_600_000 },
];
export const TASK_SETTINGS = TASKS.map(({ settings }) => settings);

/** Longest delay with which a missed run is still made, in ms (spec sqsd 8.5). */
export const CATCH_UP_MS_MAX = 300_000;

/** Smallest tag of a task's run: tags of messages that a producer sends are smaller. */
const FIRST_TASK_TAG = 2 ** 31;
const TAGS_PER_TASK = 2 ** 28;
const TIME = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/;
const MINUTE_MS = 60_000;

/** Tasks of a queue's worker daemon. */
export function tasksOf({ consumer }: QueueDefinition): readonly PeriodicTaskSettings[] {
  return consumer?.type === "http_push" ? (consumer.settings.daemon?.periodicTasks ?? []) : [];
}

/** Last moment of a task's schedule that is not after `ms`. As in cron, the minutes count from each full hour. */
export function lastMomentMs(name: string, ms: number): number {
  const everyMs = TASKS.find(({ settings }) => settings.name === name)?.everyMs ?? Infinity;
  const hourMs = ms - (ms % 3_600_000);
  return hourMs + everyMs * Math.floor((ms - hourMs) / everyMs);
}

/** First moment of a task's schedule after `ms`. */
export function nextMomentMs(name: string, ms: number): number {
  let momentMs = ms - (ms % MINUTE_MS);
  do momentMs += MINUTE_MS;
  while (lastMomentMs(name, momentMs) !== momentMs);
  return momentMs;
}

export function tagOfRun({ name, scheduledMs }: TaskRun): number {
  const number = TASKS.findIndex(({ settings }) => settings.name === name);
  return FIRST_TASK_TAG + number * TAGS_PER_TASK + Math.floor(scheduledMs / MINUTE_MS);
}

/** The run that a tag stands for; `null` for the tag of a message that a producer sent. */
export function runOfTag(tag: number): TaskRun | null {
  if (tag < FIRST_TASK_TAG) return null;
  const number = tag - FIRST_TASK_TAG;
  const name = TASKS[Math.floor(number / TAGS_PER_TASK)]?.settings.name ?? "";
  return { name, scheduledMs: MINUTE_MS * (number % TAGS_PER_TASK) };
}

/** The run that a message stands for; `null` for one that a producer sent: its content type is `bytes`. */
export function runOfRecord(index: PackedIndex, i: number): TaskRun | null {
  if (index.contentType(i) !== "text") return null;
  const text = Buffer.from(index.extension(i).attributes ?? []).toString("latin1");
  const [, day, time] = TIME.exec(text) ?? [];
  const name = TASK_SETTINGS.find((task) => text.includes(task.url))?.name ?? "";
  return { name, scheduledMs: Date.parse(`${day}T${time}Z`) };
}

/** The run that a request is for; `null` for an ordinary one. */
export function runOfHeaders(headers: Readonly<Record<string, string>>): TaskRun | null {
  const { "X-Aws-Sqsd-Taskname": name, "X-Aws-Sqsd-Scheduled-At": scheduled } = headers;
  return name === undefined || scheduled === undefined ? null : { name, scheduledMs: Date.parse(scheduled) };
}
