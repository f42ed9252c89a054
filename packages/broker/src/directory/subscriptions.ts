import {
  canonicalJson,
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionReply,
} from "@sluice/protocol";
import { newId } from "../platform/new-id.ts";

/** A contract: this table is stored. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS subscriptions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL UNIQUE, row TEXT NOT NULL
) WITHOUT ROWID`;

/** Which events of which sources are to be sent to which queue: one subscription per source. */
export class Subscriptions {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  /** Oldest first. */
  list(): Subscription[] {
    const rows = this.#sql.exec<{ row: string }>("SELECT row FROM subscriptions").toArray();
    const subscriptions = rows.map(({ row }) => JSON.parse(row) as Subscription);
    return subscriptions.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  create(subscription: NewSubscription): SubscriptionReply {
    const source = canonicalJson(subscription.source);
    const taken = this.#sql.exec("SELECT 1 FROM subscriptions WHERE source = ?", source).toArray();
    if (taken.length > 0) return { ok: false, refusal: { kind: "sourceSubscribed" } };
    const nowMs = Date.now();
    return this.#put({ ...subscription, id: newId(), createdAtMs: nowMs, modifiedAtMs: nowMs });
  }

  change(id: string, change: SubscriptionChange): SubscriptionReply {
    const subscription = this.#read(id);
    if (subscription === null) return { ok: false, refusal: { kind: "subscriptionNotFound" } };
    return this.#put({ ...subscription, ...change, modifiedAtMs: Date.now() });
  }

  delete(id: string): SubscriptionReply {
    const subscription = this.#read(id);
    if (subscription === null) return { ok: false, refusal: { kind: "subscriptionNotFound" } };
    this.#sql.exec("DELETE FROM subscriptions WHERE id = ?", id);
    return { ok: true, subscription };
  }

  /** A queue was deleted: nothing can be sent to it any more. Answers with the subscriptions that went with it. */
  deleteOf(queueId: string): Subscription[] {
    const gone = this.list().filter((subscription) => subscription.queueId === queueId);
    for (const { id } of gone) this.delete(id);
    return gone;
  }

  #read(id: string): Subscription | null {
    const [found] = this.#sql
      .exec<{ row: string }>("SELECT row FROM subscriptions WHERE id = ?", id)
      .toArray();
    return found === undefined ? null : (JSON.parse(found.row) as Subscription);
  }

  #put(subscription: Subscription): SubscriptionReply {
    const { id, source } = subscription;
    this.#sql.exec(
      "INSERT OR REPLACE INTO subscriptions VALUES (?, ?, ?)",
      ...[id, canonicalJson(source), JSON.stringify(subscription)],
    );
    return { ok: true, subscription };
  }
}
