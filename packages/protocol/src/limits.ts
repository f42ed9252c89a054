/**
 * Every limit that a dialect states, in one place, by the name the specification uses.
 *
 * Sizes are bytes with 1 KB = 1000 B, durations carry their unit in the name. Each limit is enforced where input enters
 * (producer binding, gateway, configuration) and tested at -1, 0 and +1.
 */

/** Largest body of one message, in bytes (spec cloudflare-queues 0, 1.6). Over it: 10204. */
export const MESSAGE_BYTES_MAX = 128_000;
/** Most messages in one `sendBatch` (spec cloudflare-queues 0, 1.6). Over it: 10206. */
export const BATCH_MESSAGES_MAX = 100;
/** Largest sum of bodies in one `sendBatch`, in bytes (spec cloudflare-queues 0, 1.6). Over it: 10205. */
export const BATCH_BYTES_MAX = 256_000;
/** Longest `delaySeconds`, `delivery_delay` and `retry_delay`: 24 hours (spec cloudflare-queues 0). */
export const DELAY_SECONDS_MAX = 86_400;

/** Range and default of `max_batch_size`, in messages (spec cloudflare-queues 3.1). */
export const BATCH_SIZE_MIN = 1;
export const BATCH_SIZE_MAX = 100;
export const BATCH_SIZE_DEFAULT = 10;
/** Range and default of `max_batch_timeout`, in seconds (spec cloudflare-queues 3.1). */
export const BATCH_TIMEOUT_SECONDS_MAX = 60;
export const BATCH_TIMEOUT_SECONDS_DEFAULT = 5;
/** Range and default of `max_retries`: deliveries after the first (spec cloudflare-queues 3.1). */
export const RETRIES_MAX = 100;
export const RETRIES_DEFAULT = 3;
/**
 * Range of `max_concurrency`; unset means the broker scales by itself up to the maximum (spec cloudflare-queues 3.1).
 */
export const CONCURRENCY_MIN = 1;
export const CONCURRENCY_MAX = 250;
/** Range and default of `visibility_timeout_ms` of a pull consumer (spec cloudflare-queues 0, 3.1). */
export const VISIBILITY_TIMEOUT_MS_MAX = 43_200_000;
export const VISIBILITY_TIMEOUT_MS_DEFAULT = 30_000;
/**
 * Most messages in one pull or peek, and how many it is when neither request nor consumer says (spec cloudflare-queues
 * 0, 5.2).
 */
export const PULL_MESSAGES_MAX = 100;
export const PULL_BATCH_SIZE_DEFAULT = 5;
/**
 * Range and default of a queue's retention, in seconds: 60 s to 14 days, 4 days unless set (spec cloudflare-queues 0).
 */
export const RETENTION_SECONDS_MIN = 60;
export const RETENTION_SECONDS_MAX = 1_209_600;
export const RETENTION_SECONDS_DEFAULT = 345_600;
/** Longest run of a `queue()` handler: 15 minutes of wall clock (spec cloudflare-queues 2.5). */
export const HANDLER_WALL_CLOCK_MS_MAX = 900_000;

/** Retries of a notification consumer, and seconds before each: fixed (queues/configuration/notification-consumers). */
export const NOTIFICATION_RETRIES = 100;
export const NOTIFICATION_RETRY_DELAY_SECONDS = 10;

/** Requests to an HTTP endpoint at a time: range and default (spec sqsd 2, `HttpConnections`). */
export const HTTP_CONCURRENCY_MIN = 1;
export const HTTP_CONCURRENCY_MAX = 100;
export const HTTP_CONCURRENCY_DEFAULT = 50;
/**
 * How long a connection to an HTTP endpoint may take, in seconds: range and default (spec sqsd 2, `ConnectTimeout`).
 */
export const CONNECT_TIMEOUT_SECONDS_MIN = 1;
export const CONNECT_TIMEOUT_SECONDS_MAX = 60;
export const CONNECT_TIMEOUT_SECONDS_DEFAULT = 5;
/**
 * How long an HTTP endpoint may take to answer, in seconds: range and default. What runs in a Durable Object ends after
 * 15 minutes (spec sqsd 10.1).
 */
export const RESPONSE_TIMEOUT_SECONDS_MIN = 1;
export const RESPONSE_TIMEOUT_SECONDS_MAX = 840;
export const RESPONSE_TIMEOUT_SECONDS_DEFAULT = 60;
/** Most messages a second that a throttle can be set to. */
export const RECEIVES_PER_SECOND_MAX = 100_000;

/** Most messages in one SQS receive, and most entries of an SQS batch call (spec sqs 2.3). */
export const RECEIVE_MESSAGES_MAX = 10;
/** Longest long poll, in ms (spec sqs 7). */
export const RECEIVE_WAIT_MS_MAX = 20_000;
/** Messages of a queue that may be received and neither deleted nor visible again (spec sqs 3.5). */
export const IN_FLIGHT_MAX = 120_000;
/** How long a deduplication id, or a receive attempt id, is remembered, in ms (spec sqs 4.3, 4.5). */
export const DEDUPLICATION_MS = 300_000;
/** Largest SQS message, body and attributes together, and largest sum of a batch, in bytes (spec sqs 5.6). */
export const SQS_MESSAGE_BYTES_MAX = 1_048_576;
/**
 * Largest record of such a message, in bytes. It has room for parts that do not count for the size: the group, the
 * deduplication id, the trace header, the fields of an SNS message, and the lengths of all of these.
 */
export const SQS_RECORD_BYTES_MAX = SQS_MESSAGE_BYTES_MAX + 8_192;
/** Highest rate that a move task can be given, in messages per second (spec sqs 6.4). */
export const MOVE_RATE_MAX = 500;
/** Longest run of a move task, in ms: 36 hours (spec sqs 6.4). */
export const MOVE_MS_MAX = 129_600_000;

/** Suffix of the name of a FIFO queue (spec sqs 4.1). */
export const FIFO_SUFFIX = ".fifo";
/** Most receives that a redrive policy can allow (spec sqs 6.1). */
export const RECEIVE_COUNT_MAX = 1_000;
/** Pattern of the names of queues: 1 to 63 characters (spec cloudflare-queues 0, 6.8 code 11003). */
export const QUEUE_NAME_PATTERN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Whether a queue or a topic of that name, or ARN, is a FIFO one: its name says it (spec sqs 4.1). */
export function isFifoName(name: string): boolean {
  return name.endsWith(FIFO_SUFFIX);
}

/**
 * Whether a configuration or a Worker's binding can use the name for a queue: one of Cloudflare's, or one with `.fifo`
 * behind it.
 */
export function isBindableQueueName(name: string): boolean {
  return QUEUE_NAME_PATTERN.test(isFifoName(name) ? name.slice(0, -FIFO_SUFFIX.length) : name);
}

/** Longest queue name of SQS, in characters, `.fifo` included (spec sqs 2.1). */
export const SQS_QUEUE_NAME_LENGTH_MAX = 80;
const SQS_QUEUE_NAME = /^[A-Za-z0-9_-]+(\.fifo)?$/;
/** The ARN of a queue of SQS, up to its name. */
const SQS_ARN_PREFIX = /^arn:aws(-[a-z]+)*:sqs:[a-z0-9-]{1,40}:\d{12}:/;

/** Whether SQS can use the name for a queue. Every bindable name is one. */
export function isSqsQueueName(name: string): boolean {
  return name.length <= SQS_QUEUE_NAME_LENGTH_MAX && SQS_QUEUE_NAME.test(name);
}

/** Whether the directory can have a queue of that name: one of SQS, or an ARN outside the home region and account. */
export function isQueueName(name: string): boolean {
  return isSqsQueueName(name.replace(SQS_ARN_PREFIX, ""));
}

/** Pattern of the names of environment variables. */
export const VARIABLE_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** A header name (RFC 9110, 5.6.2), and what its value may hold. */
export const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
export const HEADER_VALUE_PATTERN = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const CONNECTION_HEADERS =
  "host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|upgrade|expect";
const OWN_HEADERS = "(sluice|webhook|x-amz-sns|x-aws-sqsd)-.*";
const RESERVED_HEADER = new RegExp(`^(${CONNECTION_HEADERS}|${OWN_HEADERS})$`, "i");

/**
 * Whether the settings of an HTTP endpoint may not name that header: it says where a request goes or how its connection
 * is used, or receivers recognise the broker by it.
 */
export function isReservedHeader(name: string): boolean {
  return RESERVED_HEADER.test(name);
}

/** How long a queue can keep what happened, in seconds. */
export const HISTORY_SECONDS_MIN = 60;
export const HISTORY_SECONDS_MAX = 1_209_600;

/** Most finished messages whose bodies a queue can keep. */
export const FINISHED_MESSAGES_MAX = 1_000;

/** Furthest that one call moves the clock: a month, in ms. Longer than any delay or retention. */
export const CLOCK_ADVANCE_MS_MAX = 31 * 86_400_000;

/** Longest that a token is valid for that ends by itself, in seconds: ten years. */
export const TOKEN_SECONDS_MAX = 315_360_000;
