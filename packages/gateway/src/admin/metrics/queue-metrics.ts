import type { ConsumerHealth } from "@sluice/protocol";
import type { AskedQueue } from "./ask-queues.ts";
import type { MetricFamily } from "./exposition.ts";

/** A queue of which something is known. */
type Answered = Exclude<AskedQueue, { kind: "silent" }>;

/**
 * Returns the metrics of all queues.
 *
 * @param leftOut number of other queues, for which there was no time.
 */
export function queueMetrics(queues: readonly AskedQueue[], leftOut: number): MetricFamily[] {
  const answered = queues.filter((queue) => queue.kind !== "silent");
  const gauge = (name: string, help: string, read: (queue: Answered) => number): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: answered.map((queue) => ({ labels: labelsOf(queue), value: read(queue) })),
  });
  const counter = (...given: Parameters<typeof gauge>): MetricFamily => ({
    ...gauge(...given),
    type: "counter",
  });
  const consumerGauge = (
    name: string,
    help: string,
    read: (health: ConsumerHealth) => number,
  ): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: answered.flatMap((queue) => {
      const { consumer } = queue.description;
      return consumer === null ? [] : [{ labels: labelsOf(queue), value: read(consumer) }];
    }),
  });
  return [
    {
      name: "sluice_queue_up",
      help: "Whether the queue answers.",
      type: "gauge",
      samples: queues.map((queue) => ({ labels: labelsOf(queue), value: Number(queue.kind !== "silent") })),
    },
    {
      name: "sluice_queues_left_out",
      help: "Queues that nothing is told of, since there was no time to ask them.",
      type: "gauge",
      samples: [{ labels: {}, value: leftOut }],
    },
    gauge(
      "sluice_queue_asleep",
      "Whether the queue was not asked: it has come to rest, and is told as it was then.",
      ({ kind }) => Number(kind === "asleep"),
    ),
    {
      name: "sluice_queue_messages",
      help: "Messages by state: ready, delayed, or leased to a consumer.",
      type: "gauge",
      samples: answered.flatMap((queue) =>
        (["ready", "delayed", "leased"] as const).map((state) => ({
          labels: { ...labelsOf(queue), state },
          value: queue.description[state],
        })),
      ),
    },
    gauge(
      "sluice_queue_backlog_bytes",
      "Bytes of the bodies of ready and delayed messages.",
      ({ description }) => description.backlogBytes,
    ),
    gauge(
      "sluice_queue_oldest_message_age_seconds",
      "Time since the oldest waiting message was sent, 0 if none waits.",
      ({ description: { nowMs, oldestMessageTimestampMs: oldestMs } }) =>
        oldestMs === 0 ? 0 : Math.max(0, nowMs - oldestMs) / 1_000,
    ),
    gauge("sluice_queue_delivery_paused", "Whether delivery is paused.", ({ record }) =>
      Number(record.definition.deliveryPaused ?? false),
    ),
    gauge(
      "sluice_queue_damage_findings",
      "What was found to be wrong with the queue's stored data.",
      ({ description }) => description.damage.length,
    ),
    consumerGauge("sluice_queue_consumer_present", "Whether the consumer is there.", ({ isPresent }) =>
      Number(isPresent),
    ),
    consumerGauge(
      "sluice_queue_deliveries_in_flight",
      "Deliveries that are under way.",
      ({ inFlight }) => inFlight,
    ),
    consumerGauge(
      "sluice_queue_consecutive_failures",
      "Deliveries since the last one that went well.",
      ({ consecutiveFailures }) => consecutiveFailures,
    ),
    counter(
      "sluice_queue_rows_written_total",
      "Rows written since the queue's object woke up, which Cloudflare bills.",
      ({ description }) => description.rowsWritten,
    ),
    counter(
      "sluice_queue_rows_read_total",
      "Rows read since the queue's object woke up, which Cloudflare bills.",
      ({ description }) => description.rowsRead,
    ),
  ];
}

function labelsOf({ record }: AskedQueue) {
  return { queue: record.name };
}
