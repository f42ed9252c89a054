import { type SigningIdentity, type SnsSettings, type TopicsRpc, topicObjectName } from "@sluice/protocol";
import { TopicRows } from "../src/directory/topics/topic-rows.ts";
import {
  changeSubscription,
  confirm,
  renewToken,
  subscribe,
  sweep,
  unsubscribe,
} from "../src/directory/topics/topic-subscriptions.ts";
import { TopicVersions } from "../src/directory/topics/topic-versions.ts";
import { Topics } from "../src/directory/topics/topics.ts";
import { REGISTRY_START_MS, TestRegistry } from "./registry.ts";

/** A database that keeps nothing. */
const NOWHERE = { exec: () => ({ toArray: () => [] }) } as unknown as SqlStorage;

/** The directory's topics in memory, on a clock of the test's. */
export class MemoryTopics {
  nowMs = REGISTRY_START_MS;
  readonly queues = new TestRegistry();
  readonly #topics = new Topics(new TopicRows(NOWHERE), new TopicVersions(NOWHERE, () => this.nowMs), {
    queues: this.queues,
    settings: {},
    now: () => this.nowMs,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    warn: () => {},
  });
  #identity: SigningIdentity | null = null;
  /** Settings of the configuration for all topics. */
  settings: SnsSettings = {};
  /** Runs before the next change is made: for what somebody else does meanwhile. */
  meanwhile: (() => Promise<unknown>) | null = null;

  readonly rpc: TopicsRpc = {
    listTopics: async () => this.#topics.registry.topics(),
    findTopic: async (arn) => this.#swept().registry.snapshot(arn),
    createTopic: async (topic) => this.#topics.create(topic),
    changeTopic: async (arn, change) => {
      await this.#disturb();
      return this.#topics.change(arn, change);
    },
    deleteTopic: async (arn) => this.#topics.delete(arn),
    listTopicSubscriptions: async () =>
      this.#swept()
        .registry.subscriptions()
        .filter(({ status }) => status.kind !== "ended"),
    findTopicSubscription: async (arn) => {
      const found = this.#swept().registry.subscription(arn);
      return found === undefined || found.status.kind === "ended" ? null : found;
    },
    subscribe: async (subscription) => subscribe(this.#topics, subscription),
    renewToken: async (arn, token) => renewToken(this.#topics, arn, token),
    confirmSubscription: async (confirmation) => confirm(this.#swept(), confirmation),
    changeTopicSubscription: async (arn, change) => {
      await this.#disturb();
      return changeSubscription(this.#topics, arn, change);
    },
    unsubscribe: async (arn, undoToken) => unsubscribe(this.#topics, arn, undoToken),
    snsSettings: async () => this.settings,
    signingIdentity: async () => this.#identity,
    keepSigningIdentity: async (identity) => {
      this.#identity ??= identity;
      return this.#identity;
    },
    hiddenObjects: async () => [
      ...this.queues.hidden().map(({ name }) => name),
      ...this.#topics.registry.topics().map(({ topicId }) => topicObjectName(topicId)),
    ],
  };

  /** Returns the version that the directory tells the object of a topic. */
  versionOfObject(topicObject: string): number | null {
    return this.#topics.registry.versionOfObject(topicObject);
  }

  #swept(): Topics {
    sweep(this.#topics);
    return this.#topics;
  }

  async #disturb(): Promise<void> {
    const { meanwhile } = this;
    this.meanwhile = null;
    await meanwhile?.();
  }
}
