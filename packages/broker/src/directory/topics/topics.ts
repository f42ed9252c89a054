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

/** Key of the only signing identity. A contract: it is stored under this key. */
const SIGNING_IDENTITY = 1;

/** Parts of the directory that topics use. */
export interface TopicsPorts {
  readonly queues: Registry;
  /** Settings of the configuration for all topics. */
  readonly settings: SnsSettings;
  now(): number;
  /** Makes a new id of 32 hexadecimal digits. */
  newId(): string;
  /** Logs a change that no client has made. */
  warn(line: string): void;
}

/** Topics of an account. Every method is one change, to be made in one transaction. */
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
    // Its delivery policy applies to subscriptions without their own.
    this.#syncEndpoints(topic);
    return { ok: true, topic };
  }

  /** Updates the queues of all endpoints, since a deployment may have changed the settings. */
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

  /** Keeps the first signing identity, so that clients can verify everything that was signed. */
  keepSigningIdentity(identity: SigningIdentity): SigningIdentity {
    const kept = this.signingIdentity();
    if (kept === null) this.#rows.signingIdentities.put(SIGNING_IDENTITY, identity);
    return kept ?? identity;
  }
}

export function refuse(refusal: TopicRefusal): { readonly ok: false; readonly refusal: TopicRefusal } {
  return { ok: false, refusal };
}
