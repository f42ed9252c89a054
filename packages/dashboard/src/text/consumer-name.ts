import type { QueueView } from "../api/call.ts";
import { shortUrl } from "./format.ts";

/** Names the consumer of a queue in a few words. */
export function consumerName({ consumer }: Pick<QueueView, "consumer">): string {
  switch (consumer?.type) {
    case undefined:
      return "none";
    case "worker":
      return consumer.worker;
    case "http_pull":
      return "HTTP pull";
    case "http_push":
      return shortUrl(consumer.settings.url);
    case "notification": {
      const { email, pagerduty, webhooks } = consumer.settings;
      return [...email, ...pagerduty, ...webhooks].join(", ");
    }
  }
}

/** Names the kind of a queue's consumer. */
export function consumerKind({ consumer }: Pick<QueueView, "consumer">): string {
  switch (consumer?.type) {
    case undefined:
      return "None: clients receive over SQS, or nobody does";
    case "worker":
      return "Worker";
    case "http_pull":
      return "Clients that pull over HTTP";
    case "http_push":
      return consumer.settings.format === "sqsd" ? "Application of a worker daemon" : "HTTP endpoint";
    case "notification":
      return "Notification";
  }
}
