import { DurableObject } from "cloudflare:workers";
import type { BulkProgress, CustomerOrders, OrderReport } from "./report.ts";

/** Orders placed one by one that `progress` tells about. */
const ORDERS_TOLD = 100;
/** Bulk runs that `progress` tells about. */
const BULKS_TOLD = 20;
const DAY_MS = 86_400_000;
/** How long a report is kept after the last change. */
const RETENTION_MS = 7 * DAY_MS;

/** A report with the bulk run that its order is part of, if any. */
export interface HistoryEntry {
  readonly bulk: string | null;
  readonly report: OrderReport;
}

/** One customer's orders and what became of each. There is one object per customer, named by the customer's id. */
export class OrderHistory extends DurableObject {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // `bulk` is '' for an order placed by itself: a primary key holds no NULL.
    ctx.storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS orders (
        bulk TEXT NOT NULL,
        id TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        cents INTEGER,
        reason TEXT,
        next_attempt_at INTEGER,
        reported_at INTEGER NOT NULL,
        PRIMARY KEY (bulk, id)
      ) WITHOUT ROWID`);
  }

  /**
   * Keeps the reports of one batch, all or none. The latest report of an order replaces the one before, but nothing
   * replaces "charged": a message can be delivered again after it was paid.
   */
  async record(entries: readonly HistoryEntry[]): Promise<void> {
    const rows = entries.map(({ bulk, report }) => ({ ...report, bulk: bulk ?? "" }));
    // One statement for the whole batch. What a dead letter cannot know (how often it was tried and why it
    // failed) stays as the last attempt left it.
    this.ctx.storage.sql.exec(
      `INSERT INTO orders (bulk, id, state, attempts, cents, reason, next_attempt_at, reported_at)
       SELECT value ->> 'bulk', value ->> 'id', value ->> 'state', value ->> 'attempts',
              value ->> 'cents', value ->> 'reason', value ->> 'nextAttemptAt', ?
       FROM json_each(?) WHERE true
       ON CONFLICT (bulk, id) DO UPDATE SET
         state = excluded.state,
         attempts = max(excluded.attempts, iif(excluded.state = 'dead', attempts, 0)),
         cents = excluded.cents,
         reason = coalesce(excluded.reason, iif(excluded.state = 'dead', reason, NULL)),
         next_attempt_at = excluded.next_attempt_at,
         reported_at = excluded.reported_at
       WHERE state <> 'charged'`,
      Date.now(),
      JSON.stringify(rows),
    );
    if ((await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + DAY_MS);
    }
  }

  /** Tells about the latest 100 orders placed one by one and the latest 20 bulk runs. */
  progress(): CustomerOrders {
    const { sql } = this.ctx.storage;
    const orders = sql
      .exec<OrderRow>(
        `SELECT id, state, attempts, cents, reason, next_attempt_at FROM orders
         WHERE bulk = '' ORDER BY reported_at DESC LIMIT ?`,
        ORDERS_TOLD,
      )
      .toArray();
    const bulks = sql
      .exec<BulkRow>(
        `SELECT bulk AS id, sum(state = 'charged') AS charged, sum(state = 'retrying') AS retrying,
                sum(state = 'dead') AS dead
         FROM orders WHERE bulk <> '' GROUP BY bulk ORDER BY max(reported_at) DESC LIMIT ?`,
        BULKS_TOLD,
      )
      .toArray();
    return { orders: orders.map(reportOf), bulks };
  }

  /** Once a day, as long as there is something to forget. */
  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec("DELETE FROM orders WHERE reported_at < ?", Date.now() - RETENTION_MS);
    const { kept } = sql.exec<{ kept: number }>("SELECT count(*) AS kept FROM orders").one();
    if (kept > 0) await this.ctx.storage.setAlarm(Date.now() + DAY_MS);
  }
}

type OrderRow = {
  id: string;
  state: OrderReport["state"];
  attempts: number;
  cents: number | null;
  reason: string | null;
  next_attempt_at: number | null;
};

type BulkRow = { -readonly [Key in keyof BulkProgress]: BulkProgress[Key] };

function reportOf(row: OrderRow): OrderReport {
  const { id, state, attempts, reason } = row;
  switch (state) {
    case "charged":
      return { state, id, attempts, cents: row.cents ?? 0 };
    case "retrying":
      return { state, id, attempts, reason: reason ?? "", nextAttemptAt: row.next_attempt_at };
    case "dead":
      return { state, id, attempts, reason };
  }
}
