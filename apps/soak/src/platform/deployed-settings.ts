import type { Opened } from "@sluice/broker/testing";
import type { DirectoryReply, QueueDefinition, QueueRecord } from "@sluice/protocol";

/**
 * Stands for the directory in a history whose settings come with the code: it is always there, stores nothing, and only
 * the history itself changes a queue.
 */
export class DeployedSettings {
  readonly #records = new Map<string, QueueRecord>();
  #revision = 0;

  /** Sets the definition of a queue, under a new revision. */
  change(name: string, definition: QueueDefinition): void {
    this.#revision += 1;
    this.#records.set(name, {
      queueId: name,
      name,
      createdOnMs: 0,
      modifiedOnMs: 0,
      revision: this.#revision,
      emptyAsOf: 0,
      definition,
      consumer: null,
      jurisdiction: null,
      dialects: {},
    });
  }

  delete(name: string): void {
    this.#revision += 1;
    this.#records.delete(name);
  }

  record(name: string): QueueRecord | null {
    return this.#records.get(name) ?? null;
  }

  opened(name: string): Opened {
    const record = this.record(name);
    return {
      position: null,
      status: record === null ? { kind: "absent", asOf: this.#revision } : { kind: "known", record },
      isIdle: false,
      directoryLoss: null,
    };
  }

  ensureQueue(name: string): DirectoryReply {
    const record = this.record(name);
    if (record === null) throw new Error(`"${name}" is none of this history's queues`);
    return { ok: true, record };
  }
}
