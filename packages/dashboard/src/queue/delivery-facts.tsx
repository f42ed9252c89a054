import { plural, span } from "@sluice/protocol/words";
import type { ComponentChildren } from "preact";
import type { BacklogView, QueueView } from "../api/call.ts";
import { consumerKind, consumerName } from "../text/consumer-name.ts";
import { nextText, partlyText } from "../text/delivery-state.ts";
import { ago } from "../text/format.ts";
import { Facts } from "../ui/facts.tsx";
import { QueueName } from "../ui/queue-name.tsx";

/** Facts about deliveries: whether the consumer is there, what is under way, the last result, the next delivery. */
export function healthFacts({ health, now, awakeSince }: BacklogView, concurrency: number | null) {
  if (health === null) return [];
  const { present, inFlight, consecutiveFailures, lastDelivery, next } = health;
  const isUnknown = present && lastDelivery === null;
  const sinceAwake = `since the queue woke up, ${ago(awakeSince, now)}`;
  return [
    ["Is there", isUnknown ? `not known ${sinceAwake}` : present ? "yes" : <Bad>no</Bad>],
    ["Under way", concurrency === null ? inFlight : `${inFlight} of ${concurrency} at most`],
    [
      "Last delivery",
      lastDelivery === null ? (
        `not known ${sinceAwake}`
      ) : (
        <div class="why" title={lastDelivery.failure ?? ""}>
          <time dateTime={lastDelivery.endedAt}>{ago(lastDelivery.endedAt, now)}</time>:{" "}
          {lastDelivery.failure === null ? (
            partlyText(lastDelivery) || "went well"
          ) : (
            <Bad>{lastDelivery.failure}</Bad>
          )}
        </div>
      ),
    ],
    ["Failed in a row", consecutiveFailures.toLocaleString("en")],
    ["Comes next", next === null ? "nothing" : <time dateTime={next.at}>{nextText(next, now)}</time>],
  ] as [string, ComponentChildren][];
}

function Bad({ children }: { readonly children: ComponentChildren }) {
  return <strong class="lost">{children}</strong>;
}

/** Lists the consumer of a queue, and how messages are delivered. */
export function DeliveryFacts({ queue }: { readonly queue: QueueView }) {
  const { consumer, redrive, settings } = queue;
  const concurrency =
    consumer === null || consumer.type === "http_pull" ? null : consumer.settings.maxConcurrency;
  return (
    <Facts
      of={[
        [
          "Consumer",
          consumer === null ? consumerKind(queue) : `${consumerKind(queue)}: ${consumerName(queue)}`,
        ],
        ...healthFacts(queue, concurrency),
        settings.maxReceivesPerSecond === null
          ? null
          : ["Rate", `${settings.maxReceivesPerSecond} a second at most`],
        ...consumerFacts(queue),
        ...(consumer === null ? receiveFacts(settings) : []),
        redrive === null
          ? null
          : [
              "Received too often",
              <>
                after {plural(redrive.maxReceiveCount, "receive")} to{" "}
                <QueueName of={redrive.deadLetterQueue} />
              </>,
            ],
        ["Delay", settings.deliveryDelaySeconds === 0 ? "none" : span(1_000 * settings.deliveryDelaySeconds)],
        ["Kept for", span(1_000 * settings.messageRetentionSeconds)],
        settings.shards === 1 ? null : ["Shards", settings.shards],
        ["Finished, kept", settings.finishedMessages.toLocaleString("en")],
      ]}
    />
  );
}

/** Lists the defaults of a queue for receives of SQS clients that name no times of their own. */
function receiveFacts({ visibilityTimeoutSeconds, receiveWaitSeconds }: QueueView["settings"]) {
  return [
    ["Received for", span(1_000 * visibilityTimeoutSeconds)],
    ["Receives wait", receiveWaitSeconds === 0 ? "not at all" : span(1_000 * receiveWaitSeconds)],
  ] as [string, ComponentChildren][];
}

function consumerFacts({ consumer }: QueueView): ([string, ComponentChildren] | null)[] {
  if (consumer === null) return [];
  const { settings } = consumer;
  const deadLetterQueue = settings.deadLetterQueue;
  const isDaemon = consumer.type === "http_push" && consumer.settings.format === "sqsd";
  return [
    consumer.type === "worker"
      ? ["Batch", `${consumer.settings.maxBatchSize}, or after ${consumer.settings.maxBatchTimeoutSeconds} s`]
      : null,
    consumer.type === "http_push" ? ["Answer within", `${consumer.settings.responseTimeoutSeconds} s`] : null,
    consumer.type === "http_pull"
      ? ["Batch", `${consumer.settings.maxBatchSize} where a pull names none`]
      : null,
    // Without a dead-letter queue a worker daemon posts a message until it expires.
    isDaemon && deadLetterQueue === null
      ? ["Retries", "until a message expires"]
      : ["Retries", retries(settings)],
    isDaemon && deadLetterQueue === null
      ? null
      : ["Dead letters", deadLetterQueue === null ? "dropped" : <QueueName of={deadLetterQueue} />],
  ];
}

function retries(settings: NonNullable<QueueView["consumer"]>["settings"]): string {
  const { maxRetries, retryDelaySeconds, retryPolicy } = settings;
  if (retryPolicy !== undefined) return `${maxRetries}, by the policy "${retryPolicy.kind}"`;
  return retryDelaySeconds === 0
    ? String(maxRetries)
    : `${maxRetries}, after ${span(1_000 * retryDelaySeconds)}`;
}
