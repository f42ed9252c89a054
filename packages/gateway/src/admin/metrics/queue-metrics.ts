import type { ConsumerHealth, QueueDescription, QueueRecord } from "@sluice/protocol";
import type { MetricFamily } from "./exposition.ts";

/** A queue and what its object says of itself; `null` if it did not answer. */
export interface AskedQueue {
  readonly record: QueueRecord;
  readonly description: QueueDescription | null;
}

type Answered = AskedQueue & { readonly description: QueueDescription };

/** What all queues come to. */
export function queueMetrics(queues: readonly AskedQueue[]): MetricFamily[] {
  const answered = queues.filter((queue): queue is Answered => queue.description !== null);
  const gauge = (name: string, help: string, read: (queue: Answered) => number): MetricFamily => ({
    ...{ name, help, type: "gauge" },
    samples: answered.map((queue) => ({ labels: labelsOf(queue), value: read(queue) })),
  });
  const counter = (...given: Parameters<typeof gauge>): MetricFamily => ({
    ...gauge(...given),
    type: "counter",
  });
  const delivery = (name: string, help: string, read: (health: ConsumerHealth) => number): MetricFamily => ({
    ...{ name, help, type: "gauge" },
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
      samples: queues.map((queue) => ({
        labels: labelsOf(queue),
        value: Number(queue.description !== null),
      })),
    },
    {
      name: "sluice_queue_messages",
      help: "Messages by state: ready, delayed, or leased to somebody.",
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
    delivery("sluice_queue_consumer_present", "Whether the consumer is there.", ({ isPresent }) =>
      Number(isPresent),
    ),
    delivery(
      "sluice_queue_deliveries_in_flight",
      "Deliveries that are under way.",
      ({ inFlight }) => inFlight,
    ),
    delivery(
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
