import type { TopicRecord, TopicSnapshot, TopicSubscription } from "@sluice/protocol";
import type { TopicRows } from "./topic-rows.ts";

/** All topics and subscriptions of an account in memory; every change is stored before anything goes by it. */
export class TopicRegistry {
  readonly #rows: TopicRows;
  readonly #topics = new Map<string, TopicRecord>();
  /** By their ids, and those of each topic by its ARN. */
  readonly #subscriptions = new Map<string, TopicSubscription>();
  readonly #ofTopic = new Map<string, Set<string>>();
  readonly #idsByToken = new Map<string, string>();
  /** Those that end by time: the others need not be looked at for that. */
  readonly #temporary = new Map<string, TopicSubscription>();

  constructor(rows: TopicRows) {
    this.#rows = rows;
    for (const topic of rows.topics()) this.#topics.set(topic.arn, topic);
    for (const subscription of rows.subscriptions()) {
      if (this.#topics.has(subscription.topicArn)) this.#enter(subscription);
    }
  }

  get size(): number {
    return this.#topics.size;
  }

  topic(arn: string): TopicRecord | undefined {
    return this.#topics.get(arn);
  }

  /** The topic of an object that is called `topic/ID`. */
  topicById(topicId: string): TopicRecord | undefined {
    return [...this.#topics.values()].find((topic) => topic.topicId === topicId);
  }

  /** In order of ARNs. */
  topics(): TopicRecord[] {
    return [...this.#topics.values()].sort((a, b) => (a.arn < b.arn ? -1 : 1));
  }

  snapshot(arn: string): TopicSnapshot | null {
    const topic = this.#topics.get(arn);
    return topic === undefined ? null : { topic, subscriptions: this.subscriptionsOf(arn) };
  }

  /** Those of a topic which have not ended, oldest first. */
  subscriptionsOf(topicArn: string): TopicSubscription[] {
    return this.allSubscriptionsOf(topicArn).filter(({ status }) => status.kind !== "ended");
  }

  allSubscriptionsOf(topicArn: string): TopicSubscription[] {
    const ids = [...(this.#ofTopic.get(topicArn) ?? [])];
    return oldestFirst(ids.flatMap((id) => this.#subscriptions.get(id) ?? []));
  }

  /** Ended ones included. */
  subscriptions(): TopicSubscription[] {
    return oldestFirst([...this.#subscriptions.values()]);
  }

  /** Those that are pending or have ended. */
  temporary(): TopicSubscription[] {
    return [...this.#temporary.values()];
  }

  subscription(arn: string): TopicSubscription | undefined {
    const found = this.#subscriptions.get(arn.slice(arn.lastIndexOf(":") + 1));
    return found?.arn === arn ? found : undefined;
  }

  subscriptionByToken(token: string): TopicSubscription | undefined {
    return this.#subscriptions.get(this.#idsByToken.get(token) ?? "");
  }

  putTopic(topic: TopicRecord): TopicRecord {
    this.#rows.saveTopic(topic);
    this.#topics.set(topic.arn, topic);
    return topic;
  }

  eraseTopic(arn: string): void {
    this.#rows.eraseTopic(arn);
    this.#topics.delete(arn);
  }

  putSubscription(subscription: TopicSubscription): TopicSubscription {
    this.#rows.saveSubscription(subscription);
    this.#leave(subscription.subscriptionId);
    this.#enter(subscription);
    return subscription;
  }

  eraseSubscription(subscriptionId: string): void {
    this.#rows.eraseSubscription(subscriptionId);
    this.#leave(subscriptionId);
  }

  #enter(subscription: TopicSubscription): void {
    const { subscriptionId, topicArn, status } = subscription;
    this.#subscriptions.set(subscriptionId, subscription);
    const ids = this.#ofTopic.get(topicArn) ?? new Set<string>();
    this.#ofTopic.set(topicArn, ids.add(subscriptionId));
    if (status.token !== null) this.#idsByToken.set(status.token.text, subscriptionId);
    if (status.kind !== "confirmed") this.#temporary.set(subscriptionId, subscription);
  }

  #leave(subscriptionId: string): void {
    const subscription = this.#subscriptions.get(subscriptionId);
    if (subscription === undefined) return;
    this.#subscriptions.delete(subscriptionId);
    this.#temporary.delete(subscriptionId);
    this.#ofTopic.get(subscription.topicArn)?.delete(subscriptionId);
    if (subscription.status.token !== null) this.#idsByToken.delete(subscription.status.token.text);
  }
}

function oldestFirst(subscriptions: TopicSubscription[]): TopicSubscription[] {
  return subscriptions.sort((a, b) => a.createdOnMs - b.createdOnMs || (a.arn < b.arn ? -1 : 1));
}
