import type { Random } from "@sluice/harness/random";
import type { HttpPushFormat, HttpPushSettings, RetryPolicySettings } from "@sluice/protocol";
import type { Asks } from "../ledger/endpoint-authorization.ts";
import { TASK_SETTINGS } from "../ledger/tasks.ts";

/**
 * Behaviour of an HTTP endpoint at a request.
 *
 * - `ok`, `created`: answers 200, or another status of the 2xx.
 * - `busy`: answers 429 or 503, mostly with `Retry-After`.
 * - `redirect`, `clientError`, `serverError`: answers a status of that kind.
 * - `hang`: takes it and never answers.
 * - `late`: answers when the queue does not wait any more.
 * - `drop`: does its work and loses the connection.
 * - `poison`: some messages end its process; it is away for a while then.
 */
export type Reply =
  | "ok"
  | "created"
  | "busy"
  | "redirect"
  | "clientError"
  | "serverError"
  | "hang"
  | "late"
  | "drop"
  | "poison";

export type Replies = readonly [Reply, ...Reply[]];

/** Credentials that an endpoint with authorization accepts. */
export const CREDENTIALS = { username: "queue", password: "as agreed" };
const WRONG_CREDENTIALS = { username: "queue", password: "as it was" };

export function drawAsks(random: Random): Asks {
  return random.pick<Asks>(["nothing", "nothing", "nothing", "basic", "digest", "both"]);
}

export function drawReplies(random: Random): Replies {
  return random.pick<Replies>([
    ["ok"],
    ["ok", "ok", "created", "serverError"],
    ["ok", "busy"],
    ["serverError"],
    ["ok", "redirect", "clientError"],
    ["ok", "ok", "hang", "late"],
    ["ok", "drop", "drop"],
    ["ok", "poison"],
    ["poison"],
    ["busy", "serverError", "poison", "drop"],
    ["ok", "created", "busy", "redirect", "clientError", "serverError", "hang", "late", "drop", "poison"],
  ]);
}

export function drawFormat(random: Random): HttpPushFormat {
  return random.pick(["sluice", "sqsd", "sns"]);
}

/**
 * Settings of an endpoint; drawn again when they change in the middle of a history.
 *
 * @param mayHaveTasks whether its worker daemon may have periodic tasks.
 */
export function drawEndpoint(
  random: Random,
  format: HttpPushFormat,
  deadLetterQueue: string | null,
  mayHaveTasks: boolean,
): HttpPushSettings {
  const common = {
    url: "http://endpoint.example/work",
    format,
    contentType: null,
    maxConcurrency: random.pick([1, 2, 5]),
    connectTimeoutSeconds: random.pick([1, 5]),
    responseTimeoutSeconds: random.pick([1, 15, 60, 299, 840]),
    readinessPath: random.pick([null, "/ready"]),
    maxRetries: random.pick([0, 1, 2, 3]),
    retryDelaySeconds: random.pick([0, 0, 2, 90]),
    deadLetterQueue,
  };
  switch (format) {
    case "sluice":
      return { ...common, ...drawPolicy(random, [null, null, ...POLICIES, SHORT_PHASES]) };
    case "sns": {
      const credentials = random.pick([CREDENTIALS, CREDENTIALS, CREDENTIALS, WRONG_CREDENTIALS, null]);
      const policy = drawPolicy(random, [SHORT_PHASES, LONG_PHASES]);
      return { ...common, ...policy, ...(credentials && { credentials }) };
    }
    case "sqsd":
      return {
        ...common,
        daemon: {
          // Without a dead-letter queue a timeout of 0 would have a message received over and over, and nothing else.
          visibilityTimeoutSeconds: random.pick([1, 30, 300, 2_100, deadLetterQueue === null ? 5 : 0]),
          errorVisibilityTimeoutSeconds: random.pick([null, null, deadLetterQueue === null ? 5 : 0, 2, 600]),
          retentionSeconds: random.pick([60, 345_600, 345_600]),
          ...(mayHaveTasks ? { periodicTasks: TASK_SETTINGS.filter(() => random.chance(0.4)) } : {}),
        },
      };
  }
}

const POLICIES = [
  { kind: "fixed", delaySeconds: 7, jitter: "none" },
  { kind: "exponential", base: 3, maxSeconds: 200, jitter: "none" },
] as const satisfies readonly RetryPolicySettings[];

const SHORT_PHASES = {
  kind: "sns",
  minDelayTarget: 1,
  maxDelayTarget: 20,
  jitter: "none",
  numRetries: 5,
  numMaxDelayRetries: 1,
  numNoDelayRetries: 1,
  numMinDelayRetries: 1,
  backoffFunction: "exponential",
} as const satisfies RetryPolicySettings;

/** Its last attempts come after a retention of a minute, or of 20 minutes. */
const LONG_PHASES = {
  kind: "sns",
  minDelayTarget: 5,
  maxDelayTarget: 260,
  jitter: "none",
  numRetries: 10,
  numMaxDelayRetries: 2,
  numNoDelayRetries: 2,
  numMinDelayRetries: 2,
  backoffFunction: "arithmetic",
} as const satisfies RetryPolicySettings;

function drawPolicy(
  random: Random,
  policies: readonly [RetryPolicySettings | null, ...(RetryPolicySettings | null)[]],
): Pick<HttpPushSettings, "retryPolicy"> {
  const policy = random.pick(policies);
  if (policy === null) return {};
  return { retryPolicy: { ...policy, jitter: random.pick(["none", "equal", "full"]) } };
}
