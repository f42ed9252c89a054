import type { Project } from "@sluice/project/read/project";
import {
  type ConsumerDefinition,
  type ConsumerSettings,
  notifiedText,
  type QueueDefinition,
  type QueueTopology,
  type R2NotificationSettings,
  type RedriveSettings,
} from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import type { Printer } from "./printer.ts";
import { type Look, table } from "./table.ts";

const COLUMNS = ["queue", "producers", "consumer", "batch", "retries", "dead letters"] as const;

/**
 * Formats the queues of a project as a table, one line each; a sentence when there are none.
 *
 * @param elsewhere names of the Workers that another process runs.
 */
export function topologyTable(
  { queues, r2Notifications = [] }: QueueTopology,
  elsewhere: readonly string[],
  look: Look = {},
): string {
  const rows = Object.entries(queues).map(([name, queue]) =>
    row(name, queue, elsewhere, bucketsOf(name, r2Notifications)),
  );
  if (rows.length === 0) return "No queues.";
  return table(COLUMNS, rows, look);
}

function row(
  name: string,
  { producers, consumer, receive }: QueueDefinition,
  elsewhere: readonly string[],
  buckets: readonly string[],
): string[] {
  const senders = [
    ...producers.map(({ worker, binding }) => `${worker} (${binding})`),
    ...buckets.map((bucket) => `R2 bucket ${bucket}`),
  ].join(", ");
  const redrive = receive?.redrive ?? null;
  return [
    name,
    senders || "-",
    consumer === null ? "-" : receiver(consumer, elsewhere),
    consumer?.type === "worker" ? batch(consumer.settings) : "-",
    retriesBy(redrive, consumer),
    redrive?.deadLetterQueue ?? consumer?.settings.deadLetterQueue ?? "-",
  ];
}

/** Lists the buckets of whose writes a queue is notified, by the configuration. */
function bucketsOf(name: string, rules: readonly R2NotificationSettings[]): string[] {
  return [...new Set(rules.filter(({ queue }) => queue === name).map(({ bucket }) => bucket))];
}

/** Formats how often a message is retried. A redrive policy overrides the consumer's settings. */
export function retriesBy(redrive: RedriveSettings | null, consumer: ConsumerDefinition | null): string {
  if (redrive !== null) return plural(redrive.maxReceiveCount, "receive");
  if (consumer === null) return "-";
  return isTriedForEver(consumer) ? "until expired" : retries(consumer.settings);
}

/** Whether a consumer retries without limit, as a worker daemon without a dead-letter queue does (spec sqsd 2). */
function isTriedForEver(consumer: ConsumerDefinition): boolean {
  if (consumer.type !== "http_push") return false;
  return consumer.settings.format === "sqsd" && consumer.settings.deadLetterQueue === null;
}

/** Names the consumer of a queue. */
export function receiver(consumer: ConsumerDefinition, elsewhere: readonly string[] = []): string {
  if (consumer.type === "http_pull") return "HTTP pull";
  if (consumer.type === "http_push") return endpoint(consumer.settings.url);
  if (consumer.type === "notification") return notifiedText(consumer.settings);
  return elsewhere.includes(consumer.worker) ? `${consumer.worker} (elsewhere)` : consumer.worker;
}

/** Formats an endpoint's URL without its query, which may hold a key. */
function endpoint(text: string): string {
  const url = URL.parse(text);
  return url === null ? "an invalid URL" : `${url.origin}${url.pathname}`;
}

/** Formats at which size or age a batch is delivered. */
export function batch({ maxBatchSize, maxBatchTimeoutSeconds }: ConsumerSettings): string {
  return `${maxBatchSize} or ${maxBatchTimeoutSeconds} s`;
}

/** How many deliveries run at a time; `null` for a consumer that asks for messages itself. */
export function concurrency({ settings }: ConsumerDefinition): string | null {
  if (!("maxConcurrency" in settings)) return null;
  return settings.maxConcurrency === null ? "as many as needed" : `${settings.maxConcurrency} at most`;
}

function retries({ maxRetries, retryDelaySeconds, retryPolicy }: ConsumerDefinition["settings"]): string {
  if (retryPolicy !== undefined) return `${maxRetries}, ${retryPolicy.kind}`;
  return retryDelaySeconds === 0 ? `${maxRetries}` : `${maxRetries}, after ${retryDelaySeconds} s`;
}

/**
 * Makes a function that prints a project's warnings and its table of queues, each only if it differs from the last
 * call's. A project is read again also for reasons that change neither, as when another `sluice dev` starts or ends.
 */
export function introducer(printer: Printer): (project: Project) => void {
  let warned = "";
  let shown = "";
  return ({ warnings, topology, elsewhere }) => {
    const warning = warnings.join("\n");
    if (warning !== warned && warning !== "") printer.warn(warning);
    warned = warning;
    const table = topologyTable(topology, elsewhere, printer);
    if (table !== shown) printer.print(`${table}\n`);
    shown = table;
  };
}
