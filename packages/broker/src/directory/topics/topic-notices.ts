import { topicObjectName } from "@sluice/protocol";
import type { TopicRegistry } from "./topic-registry.ts";
import type { TopicNotice } from "./topic-versions.ts";

/** Operations of their surroundings that the notices use. */
export interface TopicNoticePorts {
  /** Notifies a topic's object of the version of its topic, `null` if that was deleted. */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
  /** Stores that a notice has arrived. */
  transaction(write: () => void): void;
  warn(line: string): void;
}

/** Notices to topics' objects about changes of their topics. */
export class TopicNotices {
  readonly #registry: TopicRegistry;
  readonly #ports: TopicNoticePorts;

  constructor(registry: TopicRegistry, ports: TopicNoticePorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  get hasPending(): boolean {
    return this.#registry.versions.hasPending;
  }

  /** Sends all pending notices. Resolves to whether all have arrived; never rejects. */
  async notifyAll(): Promise<boolean> {
    const { versions } = this.#registry;
    await Promise.all(versions.pending().map((notice) => this.#notify(notice)));
    return !this.hasPending;
  }

  async #notify(notice: TopicNotice): Promise<void> {
    const object = topicObjectName(notice.topicId);
    try {
      await this.#ports.topicChanged(object, this.#registry.versionOfObject(object));
      this.#ports.transaction(() => this.#registry.versions.notified(notice));
    } catch (error) {
      this.#ports.warn(
        `"${object}" does not know the change of its topic yet, and is notified again: ${error}`,
      );
    }
  }
}
