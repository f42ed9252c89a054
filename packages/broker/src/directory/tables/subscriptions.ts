import {
  canonicalJson,
  type NewSubscription,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionReply,
} from "@sluice/protocol";
import { UNREADABLE_ROWS } from "@sluice/protocol/schema";
import { newId } from "../../platform/new-id.ts";
import { readRow } from "./json-rows.ts";

/** Schema of the stored subscriptions. A contract: columns keep their meaning. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS subscriptions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL UNIQUE, row TEXT NOT NULL
) WITHOUT ROWID`;

/**
 * Subscriptions of queues to events of a source, one for each source. A row that cannot be read is logged and left out,
 * and its source is free.
 */
export class Subscriptions {
  readonly #sql: SqlStorage;
  readonly #now: () => number;

  constructor(sql: SqlStorage, now: () => number) {
    this.#sql = sql;
    this.#now = now;
    sql.exec(SCHEMA);
  }

  /** Lists subscriptions, oldest first. */
  list(): Subscription[] {
    return this.#read("").sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  create(subscription: NewSubscription): SubscriptionReply {
    const source = canonicalJson(subscription.source);
    if (this.#read("WHERE source = ?", source).length > 0)
      return { ok: false, refusal: { kind: "sourceSubscribed" } };
    const nowMs = this.#now();
    return this.#put({ ...subscription, id: newId(), createdAtMs: nowMs, modifiedAtMs: nowMs });
  }

  change(id: string, change: SubscriptionChange): SubscriptionReply {
    const [subscription] = this.#read("WHERE id = ?", id);
    if (subscription === undefined) return { ok: false, refusal: { kind: "subscriptionNotFound" } };
    return this.#put({ ...subscription, ...change, modifiedAtMs: this.#now() });
  }

  delete(id: string): SubscriptionReply {
    const [subscription] = this.#read("WHERE id = ?", id);
    if (subscription === undefined) return { ok: false, refusal: { kind: "subscriptionNotFound" } };
    this.#sql.exec("DELETE FROM subscriptions WHERE id = ?", id);
    return { ok: true, subscription };
  }

  /** Deletes the subscriptions of a deleted queue. @returns them. */
  deleteOf(queueId: string): Subscription[] {
    const gone = this.list().filter((subscription) => subscription.queueId === queueId);
    for (const { id } of gone) this.delete(id);
    return gone;
  }

  #read(which: string, ...bindings: string[]): Subscription[] {
    const query = `SELECT id, row FROM subscriptions ${which}`;
    const rows = this.#sql.exec<{ id: string; row: string }>(query, ...bindings).toArray();
    return rows.flatMap(({ id, row }) => {
      const found = readRow<Subscription>(row, UNREADABLE_ROWS.subscription);
      if (found.kind === "row") return [found.row];
      console.error(
        `Directory: the stored row of event subscription "${id}" cannot be read (${found.reason}), and is left out`,
      );
      return [];
    });
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
