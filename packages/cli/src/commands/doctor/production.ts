import { isCloudflareConfig, type QueueSettings } from "@sluice/config";
import type { Project } from "@sluice/project/read/project";
import type { UserWorker } from "@sluice/project/read/worker";
import type { Finding } from "./finding.ts";

/** Date from which a message without a content type is `json`; before it, or with the flag off, it is `v8`. */
const JSON_MESSAGES_SINCE = "2024-03-18";
const [JSON_FLAG, NO_JSON_FLAG] = ["queues_json_messages", "no_queues_json_messages"];

/**
 * Finds differences from Cloudflare's own queues (docs/differences.md). For a project that deploys Sluice's broker, it
 * reports only those that the broker has on Cloudflare too.
 */
export function productionFindings(project: Project): Finding[] {
  const general = project.workers.flatMap((worker) => [
    ...remoteBindings(worker),
    ...v8ToPullConsumers(worker, project),
  ]);
  if (isDeployedWithBroker(project)) return general;
  const onCloudflare = project.workers.flatMap((worker) => [
    ...queuesNamedByBinding(worker),
    ...pullConsumers(worker),
    ...sluiceOnly(worker),
  ]);
  return [...general, ...onCloudflare];
}

/** Whether the project deploys Sluice's broker: its files configure the broker, or name it or the project. */
function isDeployedWithBroker({ broker, workers }: Project): boolean {
  return (
    broker.file !== null ||
    workers.some(({ queues }) => queues.broker !== undefined || queues.project !== undefined)
  );
}

function remoteBindings({ file, wrangler }: UserWorker): Finding[] {
  return (wrangler.queues.producers ?? [])
    .filter((producer) => producer.remote === true)
    .map(({ binding, queue }) => ({
      severity: "warning",
      code: "remote-binding",
      file,
      ...(queue === undefined ? {} : { queue }),
      text: `"remote" of the binding "${binding}" has no effect here: messages stay on the local broker.`,
    }));
}

/** Finds senders of V8's serialization to queues of pull clients, which cannot read it. */
function v8ToPullConsumers({ file, name, queues, wrangler }: UserWorker, { topology }: Project): Finding[] {
  const { compatibility_date: date, compatibility_flags: flags } = wrangler;
  const isNew = (date ?? JSON_MESSAGES_SINCE) >= JSON_MESSAGES_SINCE;
  const sendsJson = isNew ? !flags.includes(NO_JSON_FLAG) : flags.includes(JSON_FLAG);
  if (sendsJson) return [];
  const pulled = new Set(queues.producers.map(({ queue }) => queue));
  return [...pulled]
    .filter((queue) => topology.queues[queue]?.consumer?.type === "http_pull")
    .map((queue) => ({
      severity: "warning",
      code: "v8-to-pull-consumer",
      file,
      queue,
      text:
        `Worker "${name}" sends "v8" messages unless a send says otherwise, and clients that pull "${queue}" cannot ` +
        `read them. Set a compatibility_date from ${JSON_MESSAGES_SINCE} on, or send with contentType: "json".`,
    }));
}

function queuesNamedByBinding({ file, name, wrangler }: UserWorker): Finding[] {
  return (wrangler.queues.producers ?? [])
    .filter(({ queue }) => queue === undefined)
    .map(({ binding }) => {
      const deployed = `${name}-${binding.toLowerCase().replaceAll("_", "-")}`;
      return {
        severity: "warning",
        code: "queue-named-by-binding",
        file,
        queue: binding,
        text:
          `The binding "${binding}" names no queue. Here its queue is called "${binding}", and "wrangler deploy" ` +
          `makes one called "${deployed}". Name it: ${isCloudflareConfig(file) ? "name:" : "queue ="} "${deployed}"`,
      };
    });
}

function pullConsumers({ file, queues }: UserWorker): Finding[] {
  return queues.consumers.flatMap(({ type, queue }, i): Finding[] => {
    if (type !== "http_pull") return [];
    const line = queues.lines?.consumers[i];
    const text =
      'Wrangler by itself refuses type = "http_pull" when it deploys; "npx sluice deploy" takes it. To deploy without ' +
      `Sluice, take it out of the file and run "npx wrangler queues consumer http add ${queue}" once.`;
    return [at({ severity: "warning", code: "pull-consumer-in-file", file, queue, text }, line)];
  });
}

/** Settings of a queue that only Cloudflare's API takes, with their options of `wrangler queues update`. */
const BY_API = [
  ["deliveryDelaySeconds", "--delivery-delay-secs"],
  ["messageRetentionSeconds", "--message-retention-period-secs"],
] as const satisfies readonly (readonly [keyof QueueSettings, string])[];

/** Settings that Cloudflare's queues do not have, with their spelling in the file. */
const ONLY_SLUICES = [
  ["maxReceivesPerSecond", "max_receives_per_second"],
  ["push", "push"],
  ["fifo", "fifo"],
  ["contentBasedDeduplication", "content_based_deduplication"],
  ["deduplicationScope", "deduplication_scope"],
  ["visibilityTimeoutSeconds", "visibility_timeout"],
  ["receiveWaitTimeSeconds", "receive_wait_time"],
  ["redrive", "redrive"],
] as const satisfies readonly (readonly [keyof QueueSettings, string])[];

function sluiceOnly({ file: own, queues }: UserWorker): Finding[] {
  const { settingsFile: file = own } = queues;
  return Object.entries(queues.queueSettings).flatMap(([queue, settings]): Finding[] => {
    const flags = BY_API.filter(([key]) => settings[key] !== undefined).map(
      ([key, flag]) => `${flag} ${settings[key]}`,
    );
    const keys = ONLY_SLUICES.filter(([key]) => settings[key] !== undefined).map(([, spelled]) => spelled);
    const retry =
      queues.consumers.find((consumer) => consumer.queue === queue)?.settings.retryDelaySeconds ?? 0;
    const sentences = [
      ...(flags.length === 0 ? [] : [`set it by "npx wrangler queues update ${queue} ${flags.join(" ")}"`]),
      ...(settings.retryPolicy === undefined
        ? []
        : [`it retries after retry_delay, ${retry} s, whatever "retry" says`]),
      ...(keys.length === 0 ? [] : [`it has no ${keys.join(", ")}`]),
    ];
    if (sentences.length === 0) return [];
    const text =
      `"npx sluice deploy" takes [sluice.queues.${queue}]. Without Sluice, Cloudflare's own queue "${queue}" does not ` +
      `know it: ${sentences.join("; ")}.`;
    return [
      at({ severity: "warning", code: "sluice-only", file, queue, text }, queues.lines?.queueSettings[queue]),
    ];
  });
}

function at(finding: Finding, line: number | undefined): Finding {
  return line === undefined ? finding : { ...finding, line };
}
