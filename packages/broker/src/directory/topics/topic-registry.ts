import type { TopicRecord, TopicSnapshot, TopicSubscription } from "@sluice/protocol";
import type { Undeliverable } from "../../rpc/transfer.ts";
import type { TopicRows } from "./topic-rows.ts";
import type { TopicVersions } from "./topic-versions.ts";

/** All topics and subscriptions of an account, in memory. Every change is stored before it is used. */
export class TopicRegistry {
  readonly #rows: TopicRows;
  readonly versions: TopicVersions;
  readonly #topics = new Map<string, TopicRecord>();
  /** Subscriptions by their ids. */
  readonly #subscriptions = new Map<string, TopicSubscription>();
  /** Ids of the subscriptions of a topic, by its ARN. */
  readonly #ofTopic = new Map<string, Set<string>>();
  readonly #idsByToken = new Map<string, string>();
  /** Subscriptions that end by time. */
  readonly #temporary = new Map<string, TopicSubscription>();

  constructor(rows: TopicRows, versions: TopicVersions) {
    this.#rows = rows;
    this.versions = versions;
    for (const topic of rows.topics.all()) this.#topics.set(topic.arn, topic);
    for (const subscription of rows.subscriptions.all()) {
      if (this.#topics.has(subscription.topicArn)) this.#enter(subscription);
    }
  }

  get size(): number {
    return this.#topics.size;
  }

  topic(arn: string): TopicRecord | undefined {
    return this.#topics.get(arn);
  }

  /** Finds a topic by its id. */
  topicById(topicId: string): TopicRecord | undefined {
    return [...this.#topics.values()].find((topic) => topic.topicId === topicId);
  }

  /** Returns the version of the topic of an object `topic/ID`, `null` if there is none. */
  versionOfObject(topicObject: string): number | null {
    const topic = this.topicById(topicObject.slice(topicObject.indexOf("/") + 1));
    return topic === undefined ? null : this.versions.versionOf(topic.topicId);
  }

  /** Lists topics in order of their ARNs. */
  topics(): TopicRecord[] {
    return [...this.#topics.values()].sort((a, b) => (a.arn < b.arn ? -1 : 1));
  }

  snapshot(arn: string): TopicSnapshot | null {
    const topic = this.#topics.get(arn);
    if (topic === undefined) return null;
    const version = this.versions.versionOf(topic.topicId);
    return { topic, version, subscriptions: this.subscriptionsOf(arn) };
  }

  /** Lists the subscriptions of a topic that have not ended, oldest first. */
  subscriptionsOf(topicArn: string): TopicSubscription[] {
    return this.allSubscriptionsOf(topicArn).filter(({ status }) => status.kind !== "ended");
  }

  allSubscriptionsOf(topicArn: string): TopicSubscription[] {
    const ids = [...(this.#ofTopic.get(topicArn) ?? [])];
    return oldestFirst(ids.flatMap((id) => this.#subscriptions.get(id) ?? []));
  }

  /** Lists all subscriptions, ended ones included. */
  subscriptions(): TopicSubscription[] {
    return oldestFirst([...this.#subscriptions.values()]);
  }

  /** Lists the subscriptions that are pending or have ended. */
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
    this.#rows.topics.put(topic.arn, topic);
    // No publisher can know an older version of a new topic.
    if (this.#topics.has(topic.arn)) this.versions.change(topic.topicId);
    this.#topics.set(topic.arn, topic);
    return topic;
  }

  eraseTopic({ arn, topicId }: TopicRecord): void {
    this.#rows.topics.delete(arn);
    this.#topics.delete(arn);
    this.versions.erase(topicId);
  }

  putSubscription(subscription: TopicSubscription): TopicSubscription {
    this.#rows.subscriptions.put(subscription.subscriptionId, subscription);
    this.#leave(subscription.subscriptionId);
    this.#enter(subscription);
    this.#topicChanged(subscription.topicArn);
    return subscription;
  }

  eraseSubscription({ subscriptionId, topicArn }: TopicSubscription): void {
    this.#rows.subscriptions.delete(subscriptionId);
    this.#leave(subscriptionId);
    this.#topicChanged(topicArn);
  }

  /** Raises the version of a topic, unless the topic is erased as well, which has raised it. */
  #topicChanged(arn: string): void {
    const topic = this.#topics.get(arn);
    if (topic !== undefined) this.versions.change(topic.topicId);
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
    const ids = this.#ofTopic.get(subscription.topicArn);
    ids?.delete(subscriptionId);
    if (ids?.size === 0) this.#ofTopic.delete(subscription.topicArn);
    if (subscription.status.token !== null) this.#idsByToken.delete(subscription.status.token.text);
  }
}

function oldestFirst(subscriptions: TopicSubscription[]): TopicSubscription[] {
  return subscriptions.sort((a, b) => a.createdOnMs - b.createdOnMs || (a.arn < b.arn ? -1 : 1));
}

/** Decides whether messages of a topic for a missing queue are dead-lettered or dropped. */
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
