import type { Undeliverable } from "../../pass-on.ts";
import type { TopicRegistry } from "./topic-registry.ts";

/** What becomes of messages that a topic has for a queue which does not exist. */
export function undeliverableTo(topics: TopicRegistry, topicObject: string, queue: string): Undeliverable {
  const topic = topics.topicById(topicObject.slice(topicObject.indexOf("/") + 1));
  const subscriptions = topic === undefined ? [] : topics.subscriptionsOf(topic.arn);
  const subscription = subscriptions.find(({ target }) => target === queue);
  if (subscription === undefined) return { kind: "dropped", reason: "its subscription has ended" };
  const { deadLetterQueue } = subscription;
  if (deadLetterQueue === null) {
    return {
      kind: "dropped",
      reason: "the queue does not exist, and the subscription has no dead-letter queue",
    };
  }
  return { kind: "deadLetter", queue: deadLetterQueue };
}
