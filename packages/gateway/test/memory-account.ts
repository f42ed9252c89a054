import {
  type DirectoryRefusal,
  type DirectoryReply,
  NAME_KEPT_MS,
  type PurgeRecord,
  type QueueRecord,
} from "@sluice/protocol";
import type { AccountDirectory } from "../src/index.ts";
import { accountOf, DEAD, recordOf } from "./directory.ts";
import { CREATED_MS } from "./in-memory.ts";

/** A directory in memory whose queues can be created, changed and deleted, on a clock of the test's. */
export class MemoryAccount {
  nowMs = CREATED_MS;
  readonly records = new Map<string, QueueRecord>();
  readonly deletions = new Map<string, number>();
  /** Names that were asked for. */
  readonly lookups: string[] = [];
  readonly purges = new Map<string, PurgeRecord>();
  /** Runs before the next change is made, as another request meanwhile. */
  meanwhile: (() => void) | null = null;
  /** Why every creation and every change is refused. */
  refusal: DirectoryRefusal | null = null;
  #revision = 0;

  readonly directory: AccountDirectory = {
    ...accountOf({}),
    list: async () => [...this.records.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    findByName: async (name) => {
      this.lookups.push(name);
      return this.records.get(name) ?? null;
    },
    findById: async (queueId) => this.#byId(queueId) ?? null,
    createQueue: async ({ name, settings, dialects }): Promise<DirectoryReply> => {
      if (this.refusal !== null) return { ok: false, refusal: this.refusal };
      if (this.records.has(name)) return { ok: false, refusal: { kind: "queueNameTaken", name } };
      const record = { ...recordOf(name, { ...DEAD, ...settings }), dialects: dialects ?? {} };
      return { ok: true, record: this.put(record) };
    },
    changeQueue: async (queueId, { basedOn, settings, dialects }): Promise<DirectoryReply> => {
      if (this.refusal !== null) return { ok: false, refusal: this.refusal };
      const before = this.meanwhile;
      this.meanwhile = null;
      before?.();
      const record = this.#byId(queueId);
      if (record === undefined) return { ok: false, refusal: { kind: "queueNotFound" } };
      if (basedOn !== undefined && basedOn !== record.revision) {
        return { ok: false, refusal: { kind: "changedMeanwhile" } };
      }
      const changed = {
        ...record,
        definition: { ...record.definition, ...settings },
        dialects: { ...record.dialects, ...dialects },
      };
      return { ok: true, record: this.put(changed) };
    },
    deleteQueue: async (queueId): Promise<DirectoryReply> => {
      const record = this.#byId(queueId);
      if (record === undefined) return { ok: false, refusal: { kind: "queueNotFound" } };
      this.records.delete(record.name);
      this.deletions.set(record.name, this.nowMs);
      return { ok: true, record };
    },
    lastDeletion: async (name) => {
      const deletedMs = this.deletions.get(name) ?? null;
      return deletedMs !== null && this.nowMs < deletedMs + NAME_KEPT_MS ? deletedMs : null;
    },
    notePurge: async (queueId, purge) => void this.purges.set(queueId, purge),
    lastPurge: async (queueId) => this.purges.get(queueId) ?? null,
  };

  /** Stores a record as the next revision. */
  put(record: QueueRecord): QueueRecord {
    this.#revision += 1;
    const stored = { ...record, revision: this.#revision };
    this.records.set(record.name, stored);
    return stored;
  }

  #byId(queueId: string): QueueRecord | undefined {
    return [...this.records.values()].find((record) => record.queueId === queueId);
  }
}
