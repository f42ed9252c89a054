import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  CONNECT_TIMEOUT_SECONDS_DEFAULT,
  HEADER_NAME_PATTERN,
  HEADER_VALUE_PATTERN,
  HTTP_CONCURRENCY_DEFAULT,
  type HttpPushSettings,
  isReservedHeader,
  OWN_VARIABLE_PREFIX,
  type PeriodicTaskSettings,
  RESPONSE_TIMEOUT_SECONDS_DEFAULT,
  RETRIES_DEFAULT,
  type TaskRunSettings,
  VARIABLE_NAME_PATTERN,
  variablesOf,
} from "@sluice/protocol";
import { CATCH_UP_RULES, parseSqsdOptions, type SqsdOptions, withPath } from "@sluice/sqsd";
import { parseCronYaml } from "@sluice/sqsd/cron-yaml";
import * as z from "zod";
import { type Place, placeOf, type Report } from "../file/report.ts";
import { isTable, type Table } from "../file/table.ts";
import { checkShape } from "./check-shape.ts";
import { checkQueueName, checkRanges, PUSH_RANGES } from "./limits.ts";

const optionalNumber = z.number("a number").optional();
const optionalText = z.string("a string").optional();
const pushSchema = z.strictObject(
  {
    url: z.string("a string"),
    format: z.enum(["sluice", "sqsd"], '"sluice" or "sqsd"').optional(),
    // Keys of the format `sqsd`. `cron` is a path; `parseSqsdOptions` checks `options`.
    cron: optionalText,
    cron_days: z.enum(["or", "and"], '"or" or "and"').optional(),
    cron_catch_up: z.enum(CATCH_UP_RULES, '"one", "all" or "none"').optional(),
    cron_catch_up_window: optionalNumber,
    cron_overlap: z.enum(["allow", "skip"], '"allow" or "skip"').optional(),
    trust_task_attributes: z.boolean("a boolean").optional(),
    options: z.custom<Table>(isTable, "an object").optional(),
    content_type: optionalText,
    headers: z.custom<Table>(isTable, "an object").optional(),
    signing_secret: optionalText,
    max_concurrency: optionalNumber,
    connect_timeout: optionalNumber,
    response_timeout: optionalNumber,
    readiness_path: optionalText,
    max_retries: optionalNumber,
    retry_delay: optionalNumber,
    dead_letter_queue: optionalText,
  },
  "an object",
);

/** Keys that the format `sqsd` refuses: the worker daemon has its own options for these settings. */
const NOT_OF_SQSD = [
  "content_type",
  "max_concurrency",
  "connect_timeout",
  "response_timeout",
  "readiness_path",
  "max_retries",
  "retry_delay",
] as const;

/** Keys of the worker daemon, which only the format `sqsd` takes. */
const ONLY_OF_SQSD = [
  "options",
  "cron",
  "cron_days",
  "cron_catch_up",
  "cron_catch_up_window",
  "cron_overlap",
  "trust_task_attributes",
] as const;

/** Keys about periodic tasks, which need the key `cron`. */
const OF_TASKS = ["cron_days", "cron_catch_up", "cron_catch_up_window", "cron_overlap"] as const;

/**
 * Reads `[sluice.queues.NAME.push]`: the HTTP endpoint that consumes a queue. Every fault is reported on the line of
 * its key; `null` if there is one. The broker decides whether it may call the host, since that depends on where it
 * runs.
 */
export function readPushTable(value: unknown, place: Place, report: Report): HttpPushSettings | null {
  const raw = checkShape(pushSchema, value, place, report);
  if (raw === undefined) return null;
  const refuse = (key: string, text: string): null => {
    report.fieldError(placeOf(place, key), text);
    return null;
  };
  const url = readUrl(raw.url, placeOf(place, "url"), report);
  const inRange = checkRanges(raw, place, PUSH_RANGES, report);
  const headers = readHeaders(raw.headers, placeOf(place, "headers"), report);
  if (raw.dead_letter_queue !== undefined) {
    checkQueueName(raw.dead_letter_queue, placeOf(place, "dead_letter_queue"), report);
  }
  if (raw.signing_secret !== undefined && !VARIABLE_NAME_PATTERN.test(raw.signing_secret)) {
    return refuse(
      "signing_secret",
      "should be the name of an environment variable that holds the key, not the key.",
    );
  }
  const own = variablesOf({
    ...(raw.signing_secret === undefined ? {} : { signingSecret: raw.signing_secret }),
    ...(headers === null ? {} : { headers }),
  }).find((name) => name.startsWith(OWN_VARIABLE_PREFIX));
  if (own !== undefined) {
    return refuse(
      own === raw.signing_secret ? "signing_secret" : "headers",
      `names ${own}: no endpoint is called with the broker's own settings, whose names begin with SLUICE_.`,
    );
  }
  if (raw.readiness_path !== undefined && !raw.readiness_path.startsWith("/")) {
    return refuse("readiness_path", `should begin with "/" but is "${raw.readiness_path}".`);
  }
  const sqsd = raw.format === "sqsd" ? readSqsdOptions(raw, place, report) : null;
  for (const key of raw.format === "sqsd" ? [] : ONLY_OF_SQSD) {
    if (raw[key] !== undefined) return refuse(key, 'needs format = "sqsd".');
  }
  for (const key of raw.cron === undefined ? OF_TASKS : []) {
    if (raw[key] !== undefined) return refuse(key, 'needs "cron", the file with the tasks.');
  }
  if (raw.cron_catch_up === "none" && raw.cron_catch_up_window !== undefined) {
    return refuse(
      "cron_catch_up_window",
      'has no effect with cron_catch_up = "none": nothing is made up for.',
    );
  }
  const tasks =
    raw.cron === undefined ? [] : readTasks(raw.cron, raw.cron_days, placeOf(place, "cron"), report);
  if (url === null || !inRange || headers === null) return null;
  const shared = {
    ...(raw.headers === undefined ? {} : { headers }),
    ...(raw.signing_secret === undefined ? {} : { signingSecret: raw.signing_secret }),
    deadLetterQueue: raw.dead_letter_queue ?? null,
  };
  if (raw.format === "sqsd")
    return sqsd && tasks && { ...shared, ...daemonSettings(url, sqsd, tasksOf(raw, tasks)) };
  return {
    ...shared,
    url,
    format: "sluice",
    contentType: raw.content_type ?? null,
    maxConcurrency: raw.max_concurrency ?? HTTP_CONCURRENCY_DEFAULT,
    connectTimeoutSeconds: raw.connect_timeout ?? CONNECT_TIMEOUT_SECONDS_DEFAULT,
    responseTimeoutSeconds: raw.response_timeout ?? RESPONSE_TIMEOUT_SECONDS_DEFAULT,
    readinessPath: raw.readiness_path ?? null,
    maxRetries: raw.max_retries ?? RETRIES_DEFAULT,
    retryDelaySeconds: raw.retry_delay ?? 0,
  };
}

/** Reads the tasks of a `cron.yaml`, whose path is relative to the configuration's folder; `null` if it has errors. */
function readTasks(
  path: string,
  days: "or" | "and" | undefined,
  place: Place,
  report: Report,
): readonly PeriodicTaskSettings[] | null {
  const file = resolve(report.directory, path);
  report.dependencies.push(file);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    report.fieldError(place, `names a file that cannot be read: ${reason}`);
    return null;
  }
  const parsed = parseCronYaml(text, days);
  if (parsed.kind === "invalid") {
    for (const issue of parsed.issues) report.error(place, `${file}: ${issue}`);
    return null;
  }
  for (const warning of parsed.warnings) report.warning(place, `${file}: ${warning}`);
  return parsed.tasks;
}

/** Reads the options of the worker daemon; `null` if they are invalid or the report has any error. */
function readSqsdOptions(raw: z.infer<typeof pushSchema>, place: Place, report: Report): SqsdOptions | null {
  for (const key of NOT_OF_SQSD.filter((candidate) => raw[candidate] !== undefined)) {
    report.fieldError(
      placeOf(place, key),
      'is no key of the format "sqsd": its settings stand in "options", by their names in Elastic Beanstalk.',
    );
  }
  const optionsPlace = placeOf(place, "options");
  const parsed = parseSqsdOptions(raw.options ?? {}, raw.dead_letter_queue !== undefined);
  if (parsed.kind === "invalid") {
    for (const { option, message } of parsed.issues) {
      report.fieldError(placeOf(optionsPlace, option), `${message}.`);
    }
    return null;
  }
  for (const { option, message } of parsed.warnings) {
    const optionPlace = placeOf(optionsPlace, option);
    report.warning(optionPlace, `The field "${optionPlace.field}" ${message}.`);
  }
  return report.hasErrors ? null : parsed.options;
}

function tasksOf(
  raw: z.infer<typeof pushSchema>,
  periodicTasks: readonly PeriodicTaskSettings[],
): DaemonTasks {
  const { cron_catch_up: catchUp, cron_catch_up_window: catchUpSeconds, cron_overlap: overlap } = raw;
  return {
    periodicTasks,
    taskRuns: {
      ...(catchUp === undefined ? {} : { catchUp }),
      ...(catchUpSeconds === undefined ? {} : { catchUpSeconds }),
      ...(overlap === undefined ? {} : { overlap }),
    },
    trustsTaskAttributes: raw.trust_task_attributes ?? false,
  };
}

/** Periodic tasks of a worker daemon. */
export interface DaemonTasks {
  /** Default: none. */
  readonly periodicTasks?: readonly PeriodicTaskSettings[];
  /** Rules for missed and overlapping runs. Default: AWS's. */
  readonly taskRuns?: TaskRunSettings;
  /** Whether attributes `beanstalk.sqsd.*` count on every message, not only on the daemon's own. Default false. */
  readonly trustsTaskAttributes?: boolean;
}

/** Translates a worker daemon's options into the broker's settings. */
export function daemonSettings(
  url: string,
  options: SqsdOptions,
  { periodicTasks = [], taskRuns = {}, trustsTaskAttributes = false }: DaemonTasks = {},
): Omit<HttpPushSettings, "deadLetterQueue"> {
  return {
    url: options.HttpPath === null ? url : withPath(url, options.HttpPath),
    format: "sqsd",
    contentType: options.MimeType,
    maxConcurrency: options.HttpConnections,
    connectTimeoutSeconds: options.ConnectTimeout,
    responseTimeoutSeconds: options.InactivityTimeout,
    readinessPath: null,
    // `MaxRetries` counts the first receive too.
    maxRetries: options.MaxRetries - 1,
    retryDelaySeconds: 0,
    daemon: {
      visibilityTimeoutSeconds: options.VisibilityTimeout,
      errorVisibilityTimeoutSeconds: options.ErrorVisibilityTimeout,
      retentionSeconds: options.RetentionPeriod,
      ...(periodicTasks.length === 0 ? {} : { periodicTasks }),
      ...(Object.keys(taskRuns).length === 0 ? {} : { taskRuns }),
      ...(trustsTaskAttributes ? { trustsTaskAttributes } : {}),
    },
  };
}

function readUrl(text: string, place: Place, report: Report): string | null {
  const url = URL.parse(text);
  const problem =
    url === null || (url.protocol !== "http:" && url.protocol !== "https:")
      ? "should be an http: or https: URL"
      : url.username !== "" || url.password !== ""
        ? "should have no user and password in it; put them into a header whose value is an environment variable"
        : null;
  if (problem === null) return text;
  // The text may contain a password and is not repeated.
  report.fieldError(place, `${problem}.`);
  return null;
}

function readHeaders(
  table: Table | undefined,
  place: Place,
  report: Report,
): Readonly<Record<string, string>> | null {
  const headers: [string, string][] = [];
  let isValid = true;
  for (const [name, value] of Object.entries(table ?? {})) {
    const isHeader =
      HEADER_NAME_PATTERN.test(name) && typeof value === "string" && HEADER_VALUE_PATTERN.test(value);
    if (isHeader && !isReservedHeader(name)) headers.push([name, value]);
    else {
      isValid = false;
      const problem = isHeader
        ? "is a header that the broker or its connection sets: it cannot be set to something else."
        : "is no header: its name or value cannot be sent.";
      report.fieldError(placeOf(place, name), problem);
    }
  }
  return isValid ? Object.fromEntries(headers) : null;
}
