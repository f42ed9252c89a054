import { DurableObject } from "cloudflare:workers";
import type { BulkProgress, CustomerOrders, OrderReport } from "./report.ts";

/** Most single orders in `progress`. */
const PROGRESS_ORDERS_MAX = 100;
/** Most bulk runs in `progress`. */
const PROGRESS_BULKS_MAX = 20;
const DAY_MS = 86_400_000;
/** Time that a report is kept after its last change, in ms. */
const RETENTION_MS = 7 * DAY_MS;

/** Interval in ms in which followers get one event, however many changes there are. */
const NEWS_EVERY_MS = 300;
/** Time in ms after which followers get a comment if there is no change, so that a lost connection is noticed. */
const SILENCE_MS_MAX = 15_000;

/** A report with the bulk run of its order, if any. */
export interface HistoryEntry {
  readonly bulk: string | null;
  readonly report: OrderReport;
}

/** The orders of one customer with their states. Each customer has an object, named by the customer's id. */
export class OrderHistory extends DurableObject {
  /** Resolves with the next change. */
  #change = Promise.withResolvers<void>();

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    // `bulk` is '' for a single order, because a primary key has no NULL.
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
   * Stores the reports of one batch, all or none. The latest report of an order replaces the one before, except that
   * nothing replaces "charged": a message can be delivered again after it was paid.
   */
  async record(entries: readonly HistoryEntry[]): Promise<void> {
    const rows = entries.map(({ bulk, report }) => ({ ...report, bulk: bulk ?? "" }));
    // One statement for the whole batch.
    this.ctx.storage.sql.exec(
      `INSERT INTO orders (bulk, id, state, attempts, cents, reason, next_attempt_at, reported_at)
       SELECT value ->> 'bulk', value ->> 'id', value ->> 'state', value ->> 'attempts',
              value ->> 'cents', value ->> 'reason', value ->> 'nextAttemptAt', ?
       FROM json_each(?) WHERE true
       ON CONFLICT (bulk, id) DO UPDATE SET
         state = excluded.state,
         attempts = excluded.attempts,
         cents = excluded.cents,
         reason = excluded.reason,
         next_attempt_at = excluded.next_attempt_at,
         reported_at = excluded.reported_at
       WHERE state <> 'charged'`,
      Date.now(),
      JSON.stringify(rows),
    );
    this.#change.resolve();
    this.#change = Promise.withResolvers();
    if ((await this.ctx.storage.getAlarm()) === null) {
      await this.ctx.storage.setAlarm(Date.now() + DAY_MS);
    }
  }

  /** Lists the latest 100 single orders and the latest 20 bulk runs. */
  progress(): CustomerOrders {
    const { sql } = this.ctx.storage;
    const orders = sql
      .exec<OrderRow>(
        `SELECT id, state, attempts, cents, reason, next_attempt_at FROM orders
         WHERE bulk = '' ORDER BY reported_at DESC LIMIT ?`,
        PROGRESS_ORDERS_MAX,
      )
      .toArray();
    const bulks = sql
      .exec<BulkRow>(
        `SELECT bulk AS id, sum(state = 'charged') AS charged, sum(state = 'retrying') AS retrying,
                sum(state = 'dead') AS dead
         FROM orders WHERE bulk <> '' GROUP BY bulk ORDER BY max(reported_at) DESC LIMIT ?`,
        PROGRESS_BULKS_MAX,
      )
      .toArray();
    return { orders: orders.map(reportOf), bulks };
  }

  /** Streams `progress` as server-sent events: as it is now, and after each change. A slow reader misses some. */
  follow(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    const event = () => encoder.encode(`data: ${JSON.stringify(this.progress())}\n\n`);
    let change: Promise<void> | null = null;
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        const isNews =
          change === null || (await Promise.race([change.then(() => true), scheduler.wait(SILENCE_MS_MAX)]));
        if (change !== null) await scheduler.wait(NEWS_EVERY_MS);
        change = this.#change.promise;
        controller.enqueue(isNews === true ? event() : encoder.encode(":\n\n"));
      },
    });
  }

  /** Deletes old reports once a day, as long as there are any. */
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
