import {
  encodeBody,
  packMessages,
  type QueueRecord,
  R2_RULES_MAX,
  type R2Bucket,
  type R2NotificationSettings,
  type R2Reply,
  type R2Rule,
  type R2RuleRecord,
  type R2Write,
  r2Notification,
  r2Source,
  ruleIsFor,
  rulesOverlap,
} from "@sluice/protocol";
import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import type { Transfer, TransferItem, TransferReply } from "../../rpc/transfer.ts";
import { JsonRows } from "./json-rows.ts";

interface R2BucketsPorts {
  /** Finds a queue by its id. */
  queueById(queueId: string): QueueRecord | undefined;
  /** Finds a queue by its name. */
  queueByName(name: string): QueueRecord | undefined;
  /** Brings messages to a queue. */
  take(queue: QueueRecord, transfer: Transfer): Promise<TransferReply>;
  newId(): string;
  now(): number;
  warn(line: string): void;
}

/** R2 buckets whose writes queues are notified of: one row for each, with its rules. */
export class R2Buckets {
  readonly #rows: JsonRows<R2Bucket>;
  readonly #ports: R2BucketsPorts;

  constructor(sql: SqlStorage, ports: R2BucketsPorts) {
    this.#rows = new JsonRows(sql, "r2_buckets", "bucket TEXT", "R2 bucket", UNREADABLE_ROWS.r2Bucket);
    this.#ports = ports;
  }

  list(): R2Bucket[] {
    return this.#rows.all();
  }

  add(bucket: string, queueId: string, rules: readonly R2Rule[]): R2Reply {
    if (this.#ports.queueById(queueId) === undefined)
      return { ok: false, refusal: { kind: "queueNotFound" } };
    const { takenTo, rules: before } = this.#bucket(bucket);
    const all = before.filter((rule) => rule.queueId === queueId) as R2Rule[];
    for (const rule of rules) {
      if (all.some((other) => rulesOverlap(rule, other)))
        return { ok: false, refusal: { kind: "r2RulesOverlap" } };
      all.push(rule);
    }
    if (before.length + rules.length > R2_RULES_MAX)
      return { ok: false, refusal: { kind: "r2RulesTooMany" } };
    this.#put({ bucket, takenTo, rules: [...before, ...rules.map((rule) => this.#record(rule, queueId))] });
    return { ok: true };
  }

  delete(bucket: string, queueId: string, ruleIds: readonly string[] | null): R2Reply {
    const { takenTo, rules } = this.#bucket(bucket);
    const gone = rules.filter(
      (rule) => rule.queueId === queueId && (ruleIds === null || ruleIds.includes(rule.ruleId)),
    );
    if (gone.length === 0 || (ruleIds !== null && gone.length < new Set(ruleIds).size))
      return { ok: false, refusal: { kind: "r2RuleNotFound" } };
    this.#put({ bucket, takenTo, rules: rules.filter((rule) => !gone.includes(rule)) });
    return { ok: true };
  }

  /** Deletes the rules of a deleted queue. @returns the buckets that had some. */
  deleteOf(queueId: string): string[] {
    const concerned = this.list().filter(({ rules }) => rules.some((rule) => rule.queueId === queueId));
    for (const bucket of concerned) {
      this.#put({ ...bucket, rules: bucket.rules.filter((rule) => rule.queueId !== queueId) });
    }
    return concerned.map(({ bucket }) => bucket);
  }

  /**
   * Applies the rules of a configuration. Those that it no longer has go. A rule that an API has made stays, unless one
   * of the configuration overlaps it.
   */
  configure(settings: readonly R2NotificationSettings[]): void {
    const names = new Set([
      ...this.list().map(({ bucket }) => bucket),
      ...settings.map(({ bucket }) => bucket),
    ]);
    for (const bucket of names) {
      const { takenTo, rules } = this.#bucket(bucket);
      const configured = settings
        .filter((each) => each.bucket === bucket)
        .flatMap(({ bucket: _bucket, queue, ...rule }): R2RuleRecord[] => {
          const queueId = this.#ports.queueByName(queue)?.queueId;
          if (queueId === undefined) return [];
          const known = rules.find((each) => each.isConfigured && isSame(each, queueId, rule));
          return [known ?? { ...this.#record(rule, queueId), isConfigured: true }];
        });
      const kept = rules.filter((rule) => {
        if (rule.isConfigured) return false;
        const isReplaced = configured.some(
          (other) => other.queueId === rule.queueId && rulesOverlap(other, rule),
        );
        if (isReplaced)
          this.#ports.warn(`a rule of R2 bucket "${bucket}" is replaced by the configuration's`);
        return !isReplaced;
      });
      this.#put({ bucket, takenTo, rules: [...kept, ...configured] });
    }
  }

  /**
   * Sends the messages of writes. The inbox of a queue drops those that it has taken before, so a call that ends in the
   * middle can be repeated.
   *
   * @returns the id of the last write that was taken.
   */
  async take(account: string, bucket: string, writes: readonly R2Write[]): Promise<number> {
    const { takenTo, rules } = this.#bucket(bucket);
    const isNew = (write: R2Write) => write.id > takenTo;
    for (const queueId of new Set(rules.map((rule) => rule.queueId))) {
      const queue = this.#ports.queueById(queueId);
      const ofQueue = rules.filter((rule) => rule.queueId === queueId);
      const items = writes
        .filter((write) => isNew(write) && ofQueue.some((rule) => isDue(rule, write)))
        .map((write) => this.#item(account, bucket, write));
      const [first, ...more] = items;
      if (queue === undefined || first === undefined) continue;
      const { refused } = await this.#ports.take(queue, { source: r2Source(bucket), ...first, more });
      if (refused !== null) throw new Error(`queue "${queue.name}" refuses a message of R2: ${refused}`);
    }
    const last = Math.max(takenTo, ...writes.map(({ id }) => id));
    // Read again: rules may have been changed meanwhile.
    const now = this.#bucket(bucket);
    if (now.rules.length > 0) this.#put({ ...now, takenTo: Math.max(now.takenTo, last) });
    return last;
  }

  #item(account: string, bucket: string, write: R2Write): TransferItem {
    const body = encodeBody(r2Notification(account, bucket, write), "json");
    const message = { id: this.#ports.newId(), contentType: "json", body } as const;
    return { id: write.id, packed: packMessages([message]) };
  }

  #record(rule: R2Rule, queueId: string): R2RuleRecord {
    return { ...rule, ruleId: this.#ports.newId(), queueId, createdAtMs: this.#ports.now() };
  }

  #bucket(bucket: string): R2Bucket {
    return this.#rows.get(bucket) ?? { bucket, takenTo: 0, rules: [] };
  }

  #put(bucket: R2Bucket): void {
    if (bucket.rules.length === 0) this.#rows.delete(bucket.bucket);
    else this.#rows.put(bucket.bucket, bucket);
  }
}

/** Whether a rule is for a write. The configuration's rules are older than the process that made the write. */
function isDue(rule: R2RuleRecord, write: R2Write): boolean {
  return ruleIsFor(rule, write) && (rule.isConfigured === true || rule.createdAtMs <= write.atMs);
}

function isSame(known: R2RuleRecord, queueId: string, rule: R2Rule): boolean {
  return (
    known.queueId === queueId &&
    known.prefix === rule.prefix &&
    known.suffix === rule.suffix &&
    known.description === rule.description &&
    known.actions.join() === rule.actions.join()
  );
}
