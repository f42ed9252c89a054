import { TOPIC_PROTOCOLS } from "@sluice/protocol";
import {
  consumerSchema,
  dialectsSchema,
  issueText,
  jurisdictionSchema,
  queueName,
  queueSettingsSchema,
} from "@sluice/protocol/schema";
import { parseRetryTable } from "@sluice/retry";
import { Schedule, ScheduleError } from "@sluice/sqsd";
import * as z from "zod/mini";

/** Longest name of an event subscription, in characters. */
const SUBSCRIPTION_NAME_LENGTH_MAX = 255;

const texts = z.record(z.string(), z.string());

/** A queue of a backup. The code that uses retry policies and schedules checks them. */
export const queueSchema = z
  .strictObject({
    name: queueName,
    settings: queueSettingsSchema,
    consumer: z.nullable(consumerSchema),
    jurisdiction: jurisdictionSchema,
    dialects: dialectsSchema,
  })
  .check((checked) => {
    for (const [path, message] of queueProblems(checked.value)) {
      checked.issues.push({ code: "custom", path, message, input: checked.value });
    }
  });

type GivenQueue = {
  readonly name: string;
  readonly settings: z.infer<typeof queueSettingsSchema>;
  readonly consumer: z.infer<typeof consumerSchema> | null;
};

export const topicSchema = z.strictObject({
  arn: z.string(),
  isFifo: z.boolean(),
  attributes: texts,
  tags: texts,
});

/** A subscription to a topic. Its other members in a backup are for people, such as how it was confirmed. */
export const topicSubscriptionSchema = z.object({
  topicArn: z.string(),
  protocol: z.enum(TOPIC_PROTOCOLS),
  endpoint: z.string(),
  target: z.string(),
  deadLetterQueue: z.nullable(queueName),
  attributes: texts,
});

export const subscriptionSchema = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(SUBSCRIPTION_NAME_LENGTH_MAX)),
  enabled: z.boolean(),
  source: texts,
  queue: queueName,
  events: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)),
});

/** Finds faults of a queue whose parts are right, with the keys that lead to each. */
function* queueProblems({
  name,
  settings,
  consumer,
}: GivenQueue): Generator<[path: (string | number)[], message: string]> {
  if (name.endsWith(".fifo") !== (settings.fifo !== undefined)) {
    yield [["settings", "fifo"], "must be there for a queue whose name ends in .fifo, and for no other"];
  }
  if (settings.receive?.redrive?.deadLetterQueue === name) {
    yield [["settings", "receive", "redrive", "deadLetterQueue"], "must be another queue"];
  }
  if (consumer === null) return;
  const of = ["consumer", "settings"];
  const policy = consumer.settings.retryPolicy;
  const refused = policy === undefined ? null : policyProblem(policy);
  if (refused !== null) yield [[...of, "retryPolicy"], refused];
  if (consumer.type !== "http_push") return;
  const { format, credentials, daemon } = consumer.settings;
  if (format === "sns" || credentials !== undefined) {
    yield [[...of, "format"], "must not be that of a topic's endpoint: that is subscribed to the topic"];
  }
  if ((format === "sqsd") !== (daemon !== undefined)) {
    yield [[...of, "daemon"], "must be there for the format sqsd, and for no other"];
  }
  for (const [i, { schedule, days }] of (daemon?.periodicTasks ?? []).entries()) {
    const wrong = scheduleProblem(schedule, days);
    if (wrong !== null) yield [[...of, "daemon", "periodicTasks", i, "schedule"], wrong];
  }
}

type Policy = NonNullable<NonNullable<GivenQueue["consumer"]>["settings"]["retryPolicy"]>;

function policyProblem({ kind, jitter, ...rest }: Policy): string | null {
  const named = { policy: kind, jitter };
  const table =
    "delaySeconds" in rest
      ? { ...named, delay: rest.delaySeconds }
      : "base" in rest
        ? { ...named, base: rest.base, max: rest.maxSeconds }
        : { ...named, ...rest, unlimited: true };
  const read = parseRetryTable(table);
  if (read.kind === "policy") return null;
  const [issue] = read.issues;
  return issue === undefined ? "is no retry policy" : issueText(issue as Parameters<typeof issueText>[0]);
}

function scheduleProblem(schedule: string, days: "or" | "and" | undefined): string | null {
  try {
    new Schedule(schedule, days);
    return null;
  } catch (error) {
    if (error instanceof ScheduleError) return `is no schedule: ${error.message}`;
    throw error;
  }
}
