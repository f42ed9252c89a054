import type { TopicView } from "../topics/topic-view.ts";
import type { MetricFamily, Sample } from "./exposition.ts";

/** Returns the metrics of all topics of Amazon SNS. */
export function topicMetrics(topics: readonly TopicView[]): MetricFamily[] {
  const samples = (read: (topic: TopicView) => number | undefined): Sample[] =>
    topics.flatMap((topic) => {
      const value = read(topic);
      return value === undefined ? [] : [{ labels: { topic: topic.arn }, value }];
    });
  return [
    {
      name: "sluice_topic_subscriptions",
      help: "Subscriptions by status: confirmed, or pending confirmation.",
      type: "gauge",
      samples: topics.flatMap(({ arn, subscriptions }) =>
        (["confirmed", "pending"] as const).map((status) => ({
          labels: { topic: arn, status },
          value: subscriptions[status],
        })),
      ),
    },
    {
      name: "sluice_topic_endpoint_messages",
      help: "Messages that wait for an HTTP endpoint, or are on their way to one.",
      type: "gauge",
      samples: samples(({ endpoints }) => endpoints?.waiting),
    },
    {
      name: "sluice_topic_endpoints_failing",
      help: "HTTP endpoints that are away, or whose last delivery has failed.",
      type: "gauge",
      samples: samples(({ endpoints }) => endpoints?.failing),
    },
  ];
}
