import type { TopicRegistry } from "./topic-registry.ts";

/**
 * What becomes of messages of a topic whose queue does not exist when they arrive (spec sns-delivery 6.1: a fault of the
 * subscription, so nothing is tried again).
 *
 * - `deadLetter`: they go to the dead-letter queue of the subscription, which they create if it does not exist either.
 * - `dropped`: it has none, or the subscription itself has ended.
 */
export type Undeliverable =
  | { readonly kind: "deadLetter"; readonly queue: string }
  | { readonly kind: "dropped"; readonly reason: string };

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
