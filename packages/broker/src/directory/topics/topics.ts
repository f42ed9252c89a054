import {
  type NewTopic,
  type SigningIdentity,
  type SnsSettings,
  TOPICS_MAX,
  type TopicChange,
  type TopicRecord,
  type TopicRefusal,
  type TopicReply,
} from "@sluice/protocol";
import type { Registry } from "../registry.ts";
import { deleteEndpointQueue, syncEndpointQueue } from "./endpoint-queues.ts";
import { TopicRegistry } from "./topic-registry.ts";
import type { TopicRows } from "./topic-rows.ts";
import type { TopicVersions } from "./topic-versions.ts";

/** Key of the only one. */
const SIGNING_IDENTITY = 1;

/** Parts of the directory that topics use. */
export interface TopicsPorts {
  readonly queues: Registry;
  /** Settings of the configuration for all topics. */
  readonly settings: SnsSettings;
  now(): number;
  /** 32 hexadecimal digits that nobody has. */
  newId(): string;
  /** Says what nobody asked for. */
  warn(line: string): void;
}

/** Topics and what becomes of them. Every method is one change, to be made in one transaction. */
export class Topics {
  readonly registry: TopicRegistry;
  readonly ports: TopicsPorts;
  readonly #rows: TopicRows;

  constructor(rows: TopicRows, versions: TopicVersions, ports: TopicsPorts) {
    this.#rows = rows;
    this.ports = ports;
    this.registry = new TopicRegistry(rows, versions);
  }

  create({ arn, isFifo, attributes, tags }: NewTopic): TopicReply {
    const existing = this.registry.topic(arn);
    if (existing !== undefined) return refuse({ kind: "topicExists", topic: existing });
    if (this.registry.size >= TOPICS_MAX) return refuse({ kind: "tooManyTopics" });
    const topic: TopicRecord = {
      topicId: this.ports.newId(),
      arn,
      createdOnMs: this.ports.now(),
      revision: 1,
      isFifo,
      attributes,
      tags,
      endedSubscriptions: 0,
    };
    return { ok: true, topic: this.registry.putTopic(topic) };
  }

  change(arn: string, { basedOn, attributes, tags }: TopicChange): TopicReply {
    const before = this.registry.topic(arn);
    if (before === undefined) return refuse({ kind: "topicNotFound" });
    if (before.revision !== basedOn) return refuse({ kind: "changedMeanwhile" });
    const topic = this.registry.putTopic({
      ...before,
      revision: before.revision + 1,
      attributes: attributes ?? before.attributes,
      tags: tags ?? before.tags,
    });
    // Its delivery policy counts for those who have none of their own.
    this.#syncEndpoints(topic);
    return { ok: true, topic };
  }

  /** Makes every endpoint's queue what it is by the settings: a deployment can have changed them. */
  applySettings(): void {
    for (const topic of this.registry.topics()) this.#syncEndpoints(topic);
  }

  #syncEndpoints(topic: TopicRecord): void {
    for (const subscription of this.registry.allSubscriptionsOf(topic.arn)) {
      syncEndpointQueue(this.ports.queues, topic, subscription, this.ports.settings);
    }
  }

  delete(arn: string): TopicReply {
    const topic = this.registry.topic(arn);
    if (topic === undefined) return refuse({ kind: "topicNotFound" });
    const subscriptions = this.registry.allSubscriptionsOf(arn);
    this.registry.eraseTopic(topic);
    for (const subscription of subscriptions) {
      deleteEndpointQueue(this.ports.queues, subscription);
      this.registry.eraseSubscription(subscription);
    }
    return { ok: true, topic };
  }

  signingIdentity(): SigningIdentity | null {
    return this.#rows.signingIdentities.get(SIGNING_IDENTITY);
  }

  /** The first one stays: what was signed must be good for as long as somebody checks it. */
  keepSigningIdentity(identity: SigningIdentity): SigningIdentity {
    const kept = this.signingIdentity();
    if (kept === null) this.#rows.signingIdentities.put(SIGNING_IDENTITY, identity);
    return kept ?? identity;
  }
}

export function refuse(refusal: TopicRefusal): { readonly ok: false; readonly refusal: TopicRefusal } {
  return { ok: false, refusal };
}
