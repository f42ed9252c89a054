import { topicObjectName } from "@sluice/protocol";
import type { TopicRegistry } from "./topic-registry.ts";
import type { TopicNotice } from "./topic-versions.ts";

/** Operations of their surroundings that the notices use. */
export interface TopicNoticePorts {
  /** Tells a topic's object the version of its topic, `null` if that is no more. */
  topicChanged(topicObject: string, version: number | null): Promise<void>;
  /** Makes what a telling changes durable. */
  transaction(write: () => void): void;
  warn(line: string): void;
}

/** Tells topics' objects that their topics were changed, as `Notices` tells queues. */
export class TopicNotices {
  readonly #registry: TopicRegistry;
  readonly #ports: TopicNoticePorts;

  constructor(registry: TopicRegistry, ports: TopicNoticePorts) {
    this.#registry = registry;
    this.#ports = ports;
  }

  /** Whether somebody does not know. */
  get hasUntold(): boolean {
    return this.#registry.versions.hasUntold;
  }

  /** Tells everybody who does not know. Resolves to whether all of them know now; never rejects. */
  async tellAll(): Promise<boolean> {
    const { versions } = this.#registry;
    await Promise.all(versions.untold().map((notice) => this.#tell(notice)));
    return !this.hasUntold;
  }

  async #tell(notice: TopicNotice): Promise<void> {
    const object = topicObjectName(notice.topicId);
    try {
      await this.#ports.topicChanged(object, this.#registry.versionOfObject(object));
      this.#ports.transaction(() => this.#registry.versions.told(notice));
    } catch (error) {
      this.#ports.warn(
        `"${object}" does not know yet that its topic was changed, it is told again: ${error}`,
      );
    }
  }
}
