import { type ClockSetting, REAL_TIME } from "@sluice/protocol";
import { type Clock, MovableClock } from "../../platform/clock.ts";

/** Schema of the stored setting, one row once the clock was moved. A contract: columns keep their meaning. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS clock (
  id INTEGER PRIMARY KEY CHECK (id = 0), offset_ms INTEGER NOT NULL, frozen_at_ms INTEGER
)`;

/** Stored setting of the broker's clock, which all of its queues use. */
export class ClockRow {
  readonly #sql: SqlStorage;
  readonly #base: Clock;
  readonly #startMs: number | null;

  /**
   * @param base clock of the host, which the broker's clock is set against.
   * @param startMs time at which the broker's clock stands until it is moved; `null` for a running clock.
   */
  constructor(sql: SqlStorage, base: Clock, startMs: number | null) {
    this.#sql = sql;
    this.#base = base;
    this.#startMs = startMs;
    sql.exec(SCHEMA);
  }

  /** Reads the setting; `undefined` for a running clock that was never moved. */
  read(): ClockSetting | undefined {
    const [row] = this.#sql
      .exec<{ offset_ms: number; frozen_at_ms: number | null }>("SELECT offset_ms, frozen_at_ms FROM clock")
      .toArray();
    if (row !== undefined) return { offsetMs: row.offset_ms, frozenAtMs: row.frozen_at_ms };
    return this.#startMs === null ? undefined : { offsetMs: 0, frozenAtMs: this.#startMs };
  }

  /** Changes the clock. @returns its new setting. */
  change(change: (clock: MovableClock) => void): ClockSetting {
    const clock = MovableClock.by(this.#base, this.read() ?? REAL_TIME);
    change(clock);
    const { offsetMs, frozenAtMs } = clock.setting;
    this.#sql.exec("INSERT OR REPLACE INTO clock VALUES (0, ?, ?)", offsetMs, frozenAtMs);
    return { offsetMs, frozenAtMs };
  }
}
