import type { TopicSnapshot } from "@sluice/protocol";

/** Topics and subscriptions that are remembered, together: some ten megabytes. */
export const KNOWN_TOPICS_WEIGHT_MAX = 10_000;

/**
 * Cache of topics, as the directory has described them. A call to the directory costs a publish as much as the one to
 * the topic's object, so it is asked once for each. An entry can be out of date. The directory notifies a topic's
 * object of every change before it answers it, and the object refuses a publish that goes by an older version.
 */
export class KnownTopics {
  readonly #topics = new Map<string, TopicSnapshot>();
  #weight = 0;

  find(arn: string): TopicSnapshot | undefined {
    return this.#topics.get(arn);
  }

  /** Remembers a topic. Answers of the directory can overtake each other: the latest version stays. */
  note(snapshot: TopicSnapshot): void {
    const { arn, topicId } = snapshot.topic;
    const known = this.#topics.get(arn);
    if (known !== undefined && known.topic.topicId === topicId && known.version > snapshot.version) return;
    this.forget(arn);
    this.#topics.set(arn, snapshot);
    this.#weight += weightOf(snapshot);
    for (const oldest of this.#topics.keys()) {
      if (this.#weight <= KNOWN_TOPICS_WEIGHT_MAX) break;
      this.forget(oldest);
    }
  }

  forget(arn: string): void {
    const known = this.#topics.get(arn);
    if (known === undefined) return;
    this.#topics.delete(arn);
    this.#weight -= weightOf(known);
  }
}

function weightOf({ subscriptions }: TopicSnapshot): number {
  return 1 + subscriptions.length;
}
