import { refuseMissingMain } from "@sluice/project/read/missing-main";
import type { Project } from "@sluice/project/read/project";
import type { QueueDefinition } from "@sluice/protocol";
import { span } from "@sluice/protocol/words";
import type { Finding, FindingCode } from "./finding.ts";
import { productionFindings } from "./production.ts";

/** Finds what is wrong, missing or different on Cloudflare in a project that can be read. Errors come first. */
export function diagnose(project: Project): Finding[] {
  const findings = [
    ...workerFindings(project),
    ...brokerFindings(project),
    ...Object.entries(project.topology.queues).flatMap(([name, queue]) => [
      ...consumptionFindings(name, queue, project),
      ...expiryFindings(name, queue, project),
    ]),
    ...productionFindings(project),
  ];
  return findings.sort((a, b) => rank(a) - rank(b));
}

function rank({ severity }: Finding): number {
  return severity === "error" ? 0 : 1;
}

function workerFindings({ workers }: Project): Finding[] {
  return workers.flatMap((worker): Finding[] => {
    const { file, wrangler, name } = worker;
    const findings: Finding[] = [];
    try {
      refuseMissingMain([worker]);
    } catch (error) {
      const text = error instanceof Error ? error.message.replace(`${file}: `, "") : String(error);
      findings.push({ severity: "error", code: "missing-main", file, text });
    }
    if (wrangler.compatibility_date === undefined) {
      const text = `Worker "${name}" has no compatibility_date, and "wrangler deploy" refuses one without.`;
      findings.push({ severity: "warning", code: "missing-compatibility-date", file, text });
    }
    return findings;
  });
}

/** Finds a broker whose configuration sets `SLUICE_ENV`, which would be deployed too and open it to everyone. */
function brokerFindings({ broker }: Project): Finding[] {
  const env = broker.wrangler?.vars?.SLUICE_ENV;
  if (broker.file === null || (env !== "local" && env !== "development")) return [];
  const text =
    `SLUICE_ENV = "${env}" opens the broker to everyone who reaches it, also when it is deployed. Take it out of "vars": ` +
    '"sluice dev" does not need it, and for "wrangler dev" it belongs into .dev.vars.';
  return [{ severity: "error", code: "open-broker", file: broker.file, text }];
}

/** Finds queues without a reader, and messages that are deleted when they fail. */
function consumptionFindings(name: string, queue: QueueDefinition, project: Project): Finding[] {
  const { consumer, producers } = queue;
  if (consumer === null) {
    if (isReadByClients(queue)) return [];
    const sources = deadLetterSourcesOf(name, project);
    const kept = `Its messages are kept for ${span(1_000 * queue.messageRetentionSeconds)} and then deleted`;
    if (sources.length > 0) {
      const text =
        `No Worker consumes "${name}", which gets the dead letters of ${quoted(sources)}. ${kept}: give it a consumer, ` +
        `or look at them and move them back in time ("sluice queues redrive ${name}").`;
      return [found("warning", "dead-letters-unread", name, text, project)];
    }
    if (producers.length === 0) return [];
    const senders = quoted(producers.map(({ worker }) => worker));
    const text =
      `No Worker consumes "${name}", which ${senders} sends to. ${kept}. If another Worker consumes it, name that one ` +
      "too: sluice doctor apps/producer apps/consumer";
    return [found("warning", "no-consumer", name, text, project)];
  }
  const { maxRetries, deadLetterQueue } = consumer.settings;
  const isDaemon = consumer.type === "http_push" && consumer.settings.format === "sqsd";
  if (maxRetries > 0 || deadLetterQueue !== null || isDaemon || queue.receive?.redrive !== undefined)
    return [];
  const text = `A message of "${name}" that fails once is deleted: max_retries is 0, and it has no dead_letter_queue.`;
  return [found("warning", "no-dead-letter-queue", name, text, project)];
}

/** Whether programs receive and delete the queue's messages themselves, as clients of SQS do. */
function isReadByClients({ receive, fifo }: QueueDefinition): boolean {
  return receive !== undefined || fifo !== undefined;
}

function expiryFindings(name: string, queue: QueueDefinition, project: Project): Finding[] {
  const { messageRetentionSeconds: kept, deliveryDelaySeconds, consumer } = queue;
  const delays = project.workers.flatMap(({ queues }) =>
    queues.producers
      .filter((producer) => producer.queue === name)
      .map((producer) => producer.deliveryDelaySeconds ?? 0),
  );
  const delay = Math.max(deliveryDelaySeconds, ...delays);
  if (delay >= kept) {
    const text = `Messages of "${name}" wait ${delay} s for their delivery and are deleted after ${kept} s.`;
    return [found("error", "expires-undelivered", name, text, project)];
  }
  if (consumer === null || consumer.settings.retryPolicy !== undefined) return [];
  const { maxRetries, retryDelaySeconds, deadLetterQueue } = consumer.settings;
  const needed = delay + maxRetries * retryDelaySeconds;
  if (needed < kept) return [];
  const lost = deadLetterQueue === null ? "" : `, and do not reach "${deadLetterQueue}"`;
  const text =
    `${maxRetries} retries after ${retryDelaySeconds} s each take ${span(1_000 * needed)}, but messages of "${name}" ` +
    `are deleted after ${span(1_000 * kept)}: the last retries never come${lost}.`;
  return [found("warning", "expires-while-retried", name, text, project)];
}

function deadLetterSourcesOf(name: string, { topology }: Project): string[] {
  return Object.entries(topology.queues)
    .filter(([, { consumer, receive }]) =>
      [consumer?.settings.deadLetterQueue, receive?.redrive?.deadLetterQueue].includes(name),
    )
    .map(([source]) => source);
}

function quoted(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `"${name}"`).join(", ");
}

/** Makes a finding about a queue, with the place of the queue in a file. */
function found(
  severity: Finding["severity"],
  code: FindingCode,
  queue: string,
  text: string,
  { workers }: Project,
): Finding {
  return { severity, code, queue, text, ...placeOf(queue, workers) };
}

/** Finds where a queue is consumed, else where it has settings, else who sends to it or has it for dead letters. */
function placeOf(queue: string, workers: Project["workers"]): Pick<Finding, "file" | "line"> {
  const at = (file: string, line: number | undefined) => (line === undefined ? { file } : { file, line });
  for (const { file, queues } of workers) {
    const index = queues.consumers.findIndex((consumer) => consumer.queue === queue);
    if (index !== -1) return at(file, queues.lines?.consumers[index]);
  }
  for (const { file, queues } of workers) {
    // A `cloudflare.config.ts` that names the queue is the better place than the settings file beside it.
    if (queue in queues.queueSettings && (queues.settingsFile === undefined || !isNamedIn(queues, queue)))
      return at(queues.settingsFile ?? file, queues.lines?.queueSettings[queue]);
  }
  for (const { file, queues } of workers) {
    const index = queues.consumers.findIndex(({ settings }) => settings.deadLetterQueue === queue);
    if (index !== -1) return at(file, queues.lines?.consumers[index]);
    if (queues.producers.some((producer) => producer.queue === queue)) return { file };
  }
  return {};
}

/** Whether a Worker sends to a queue, or has it for dead letters. */
function isNamedIn({ producers, consumers }: Project["workers"][number]["queues"], queue: string): boolean {
  return (
    producers.some((producer) => producer.queue === queue) ||
    consumers.some(({ settings }) => settings.deadLetterQueue === queue)
  );
}
