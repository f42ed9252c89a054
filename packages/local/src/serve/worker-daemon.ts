import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ACCOUNT_DEFAULT } from "@sluice/aws/access-settings";
import { daemonSettings } from "@sluice/config";
import { CliError, EXIT_USAGE } from "@sluice/project/errors";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import {
  FIFO_SUFFIX,
  type HttpPushConsumerDefinition,
  isBindableQueueName,
  isFifoName,
  type PeriodicTaskSettings,
  type QueueDefinition,
  RETENTION_SECONDS_DEFAULT,
  type TaskRunSettings,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { CATCH_UP_MS_MAX, type CatchUpRule, parseSqsdOptions, type SqsdOptions } from "@sluice/sqsd";
import { parseCronYaml } from "@sluice/sqsd/cron-yaml";
import type { Printer } from "../report/printer.ts";
import { type ServeOptions, serve } from "./serve.ts";

/** The usual port of local SQS servers. */
const DAEMON_PORT_DEFAULT = 9324;
const DAEMON_QUEUE_DEFAULT = "worker-queue";

export interface WorkerDaemonOptions extends Pick<ServeOptions, "port" | "host" | "persistTo" | "logFormat"> {
  /** URL of the application that messages are posted to. */
  readonly url: string;
  /** Default `worker-queue`. */
  readonly queue?: string;
  /** Options as `Name=Value`, with the names of `aws:elasticbeanstalk:sqsd`. Default: none. */
  readonly option?: readonly string[];
  /** A `cron.yaml` with periodic tasks. Default: none. */
  readonly cron?: string;
  /** Whether a day of the month and a day of the week must both match. Default `or`: one of them suffices. */
  readonly cronDays?: "or" | "and";
  /** Which missed runs are made up for. Default `one`: the last of them. */
  readonly cronCatchUp?: CatchUpRule;
  /** How late a run may still be made, in seconds. Default 300. */
  readonly cronCatchUpWindow?: number;
  /** Whether a run is made while an earlier one of the task is not done. Default `allow`. */
  readonly cronOverlap?: "allow" | "skip";
  /** Whether attributes `beanstalk.sqsd.*` count in messages of any client. Default false. */
  readonly trustTaskAttributes?: boolean;
  /** Name of the dead-letter queue; `false` for none. Default: the queue's name and `-dead`. */
  readonly deadLetterQueue?: string | false;
}

/**
 * Runs `sluice worker-daemon`: a queue with an endpoint for AWS SDKs, and a worker daemon that posts its messages to a
 * web application, as in Elastic Beanstalk's worker environments (spec sqsd). Needs no Worker and no configuration.
 *
 * @throws CliError with `EXIT_USAGE` for invalid options, and as `serve`.
 */
export async function workerDaemon(options: WorkerDaemonOptions, printer: Printer): Promise<number> {
  const { queue = DAEMON_QUEUE_DEFAULT, url } = options;
  const deadLetterQueue = options.deadLetterQueue ?? deadLetterQueueOf(queue);
  for (const name of [queue, ...(deadLetterQueue === false ? [] : [deadLetterQueue])]) {
    if (!isBindableQueueName(name)) throw usageError(`"${name}" is no name of a queue.`);
  }
  if (deadLetterQueue === queue) {
    throw usageError(`The dead-letter queue of queue "${queue}" cannot be itself.`);
  }
  const { daemon, warnings } = readOptions(options.option ?? [], deadLetterQueue !== false);
  const cron =
    options.cron === undefined ? { tasks: [], warnings: [] } : readTasks(options.cron, options.cronDays);
  const taskRuns = taskRunsOf(options);
  const consumer = {
    type: "http_push",
    settings: {
      ...daemonSettings(checkUrl(url), daemon, {
        periodicTasks: cron.tasks,
        taskRuns,
        trustsTaskAttributes: options.trustTaskAttributes === true,
      }),
      deadLetterQueue: deadLetterQueue === false ? null : deadLetterQueue,
    },
  } as const;
  return serve({ targets: [], port: DAEMON_PORT_DEFAULT, ...options }, printer, {
    command: "sluice worker-daemon",
    warnings: [...warnings, ...cron.warnings],
    queues: {
      [queue]: definition(queue, consumer),
      ...(deadLetterQueue === false ? {} : { [deadLetterQueue]: definition(deadLetterQueue, null) }),
    },
    // By default the broker may call the application's host, even a private one.
    vars: { SLUICE_PUSH_HOSTS: new URL(consumer.settings.url).hostname },
    introduction: (base) => introduction(`${base}${SLUICE_PATH}/aws`, queue, consumer),
  });
}

/** Tasks of a `cron.yaml`, and warnings about them. */
interface Cron {
  readonly tasks: readonly PeriodicTaskSettings[];
  readonly warnings: readonly string[];
}

/** Options of the daemon, and warnings about them. */
interface DaemonOptions {
  readonly daemon: SqsdOptions;
  readonly warnings: readonly string[];
}

/** Makes the error for a command line that makes no sense. */
function usageError(text: string): CliError {
  return new CliError(text, EXIT_USAGE);
}

function taskRunsOf(options: WorkerDaemonOptions): TaskRunSettings {
  const { cronCatchUp: catchUp, cronCatchUpWindow: catchUpSeconds, cronOverlap: overlap } = options;
  const ofTasks = [options.cronDays, catchUp, catchUpSeconds, overlap];
  if (options.cron === undefined && ofTasks.some((option) => option !== undefined)) {
    throw usageError(
      "The options --cron-... say something of the tasks of a cron.yaml: name it with --cron.",
    );
  }
  if (catchUpSeconds !== undefined) {
    const max = CATCH_UP_MS_MAX / 1_000;
    if (!Number.isInteger(catchUpSeconds) || catchUpSeconds < 1 || catchUpSeconds > max) {
      throw usageError(`--cron-catch-up-window should be a whole number of seconds from 1 to ${max}.`);
    }
    if (catchUp === "none") {
      throw usageError("--cron-catch-up-window has no effect with --cron-catch-up none.");
    }
  }
  return {
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(catchUpSeconds === undefined ? {} : { catchUpSeconds }),
    ...(overlap === undefined ? {} : { overlap }),
  };
}

/** Names the default dead-letter queue. That of a FIFO queue is a FIFO queue, as on AWS. */
function deadLetterQueueOf(queue: string): string {
  return isFifoName(queue) ? `${queue.slice(0, -FIFO_SUFFIX.length)}-dead${FIFO_SUFFIX}` : `${queue}-dead`;
}

function definition(name: string, consumer: HttpPushConsumerDefinition | null): QueueDefinition {
  return {
    deliveryDelaySeconds: 0,
    messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
    producers: [],
    consumer,
    ...(isFifoName(name) ? { fifo: {} } : {}),
  };
}

function introduction(endpoint: string, queue: string, { settings }: HttpPushConsumerDefinition): string {
  const { daemon, maxConcurrency, maxRetries, deadLetterQueue } = settings;
  const dead =
    deadLetterQueue === null ? "" : `, ${plural(maxRetries + 1, "receive")} until "${deadLetterQueue}"`;
  return [
    `sqs     ${endpoint}  (endpoint of AWS SDKs)`,
    `queue   ${endpoint}/${process.env.SLUICE_AWS_ACCOUNT_ID || ACCOUNT_DEFAULT}/${queue}`,
    `posts   to ${settings.url}, ${maxConcurrency} at a time`,
    `        invisible for ${daemon?.visibilityTimeoutSeconds} s${dead}`,
    ...(daemon?.periodicTasks ?? []).map(
      ({ name, schedule, url }) => `task    ${name}: ${schedule} UTC, ${url}`,
    ),
  ].join("\n");
}

function readTasks(path: string, days: "or" | "and" | undefined): Cron {
  const file = resolve(path);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = parseCronYaml(text, days);
  if (parsed.kind === "invalid") {
    throw new CliError(parsed.issues.map((issue) => `${file}: ${issue}`).join("\n"));
  }
  return { tasks: parsed.tasks, warnings: parsed.warnings.map((warning) => `warning: ${file}: ${warning}`) };
}

function checkUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return text;
  throw usageError(`"${text}" is no http: or https: URL. Example: --url http://localhost:8080/`);
}

function readOptions(texts: readonly string[], hasDeadLetterQueue: boolean): DaemonOptions {
  const raw: [string, string][] = texts.map((text) => {
    const at = text.indexOf("=");
    if (at <= 0) throw usageError(`--option ${text}: an option is written Name=Value.`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const parsed = parseSqsdOptions(Object.fromEntries(raw), hasDeadLetterQueue);
  if (parsed.kind === "invalid") {
    const lines = parsed.issues.map(({ option, message }) => `--option ${option} ${message}.`);
    throw usageError(lines.join("\n"));
  }
  const warnings = parsed.warnings.map(({ option, message }) => `warning: ${option} ${message}`);
  return { daemon: parsed.options, warnings };
}
