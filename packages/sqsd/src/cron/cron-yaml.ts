import { createRequire } from "node:module";
import { isObject } from "@sluice/aws";
import { withPath } from "../request.ts";
import { type DayRule, hasSixthField, Schedule, ScheduleError } from "./schedule.ts";

/** A periodic task as `cron.yaml` has it. */
export interface TaskDefinition {
  readonly name: string;
  /** Path of the POST. */
  readonly url: string;
  /** Cron expression, in UTC: its first five fields count. */
  readonly schedule: string;
  /** Default `or`. */
  readonly days?: DayRule;
}

export type ParsedCronYaml =
  | {
      readonly kind: "tasks";
      readonly tasks: readonly TaskDefinition[];
      readonly warnings: readonly string[];
    }
  | { readonly kind: "invalid"; readonly issues: readonly string[] };

/** Loaded with the first file: it takes more memory than everything else that reads a configuration. */
const loadYaml = () => createRequire(import.meta.url)("yaml") as typeof import("yaml");

const VERSION = 1;
/** URL that those of tasks are joined to (spec sqsd 8.1). */
const APPLICATION = "http://localhost/";
const KEYS = ["name", "url", "schedule"] as const;

/**
 * Reads a `cron.yaml` (spec sqsd 8.1). Reports everything that is wrong at once.
 *
 * @param days how a day of the month beside a day of the week counts.
 */
export function parseCronYaml(text: string, days: DayRule = "or"): ParsedCronYaml {
  const document = loadYaml().parseDocument(text, { prettyErrors: true });
  if (document.errors.length > 0) return invalid(document.errors.map(({ message }) => message.trim()));
  const root: unknown = document.toJS();
  if (root === null || root === undefined) return invalid(["the file is empty"]);
  if (!isObject(root)) return invalid(['the file should have "version" and "cron"']);
  if (root.version === undefined) return invalid(['"version" is missing']);
  if (root.version !== VERSION)
    return invalid([`version ${JSON.stringify(root.version)} is not known: use 1`]);
  if (root.cron === undefined) return invalid(['"cron" is missing']);
  if (!Array.isArray(root.cron)) return invalid(['"cron" should be a list of tasks']);
  const issues: string[] = [];
  const tasks = root.cron.flatMap((entry: unknown, i) => readTask(entry, i, days, issues));
  const names = tasks.map(({ name }) => name);
  for (const name of new Set(names.filter((each, i) => names.indexOf(each) !== i))) {
    issues.push(`two tasks are called "${name}"`);
  }
  if (issues.length > 0) return invalid(issues);
  const warnings = tasks
    .filter(({ schedule }) => hasSixthField(schedule))
    .map(
      ({ name }) => `the sixth field of "schedule" of task "${name}" is ignored: the first one is the minute`,
    );
  return { kind: "tasks", tasks, warnings };
}

function readTask(entry: unknown, i: number, days: DayRule, issues: string[]): TaskDefinition[] {
  const place = isObject(entry) && typeof entry.name === "string" ? `task "${entry.name}"` : `task ${i + 1}`;
  if (!isObject(entry)) {
    issues.push(`${place} should have "name", "url" and "schedule"`);
    return [];
  }
  const count = issues.length;
  for (const key of KEYS) {
    const value = entry[key];
    if (value === undefined || value === null || value === "") issues.push(`${place} has no "${key}"`);
    else if (typeof value !== "string") issues.push(`"${key}" of ${place} should be a text`);
  }
  if (issues.length > count) return [];
  const { name, url, schedule } = entry as unknown as TaskDefinition;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they cannot stand in a header, which the name becomes.
  if (/[\u0000-\u001f]/.test(name)) issues.push(`the name of ${place} has control characters in it`);
  const joined = URL.parse(url, APPLICATION);
  if (joined?.origin !== new URL(APPLICATION).origin) {
    issues.push(`"url" of ${place} is no path of the application: ${JSON.stringify(url)}`);
  }
  try {
    new Schedule(schedule, days);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    issues.push(`"schedule" of ${place}: ${error.message}`);
  }
  if (joined === null || issues.length > count) return [];
  // A whole URL of the application stands for its path.
  const path = joined.href === withPath(APPLICATION, url) ? url : joined.pathname + joined.search;
  return [{ name, url: path, schedule, ...(days === "or" ? {} : { days }) }];
}

function invalid(issues: readonly string[]): ParsedCronYaml {
  return { kind: "invalid", issues };
}
