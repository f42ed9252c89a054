import { type ClockSetting, REAL_TIME } from "@sluice/protocol";
import { MovableClock, systemClock } from "../platform/clock.ts";

/** A contract: this table is stored. Of one row, if anybody ever moved the clock. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS clock (
  id INTEGER PRIMARY KEY CHECK (id = 0), offset_ms INTEGER NOT NULL, frozen_at_ms INTEGER
)`;

/** The clock that all queues of the broker go by, as it is stored. */
export class ClockRow {
  readonly #sql: SqlStorage;
  readonly #startMs: number | null;

  /** @param startMs where it stands before anybody moves it; `null` for one that runs. */
  constructor(sql: SqlStorage, startMs: number | null = null) {
    this.#sql = sql;
    this.#startMs = startMs;
    sql.exec(SCHEMA);
  }

  /** `undefined` if nobody ever moved it, and it did not stand from the beginning. */
  read(): ClockSetting | undefined {
    const [row] = this.#sql
      .exec<{ offset_ms: number; frozen_at_ms: number | null }>("SELECT offset_ms, frozen_at_ms FROM clock")
      .toArray();
    if (row !== undefined) return { offsetMs: row.offset_ms, frozenAtMs: row.frozen_at_ms };
    return this.#startMs === null ? undefined : { offsetMs: 0, frozenAtMs: this.#startMs };
  }

  /** Changes it, and answers what it is then. */
  change(change: (clock: MovableClock) => void): ClockSetting {
    const clock =
      this.#startMs === null
        ? new MovableClock(systemClock, 0)
        : MovableClock.standing(systemClock, this.#startMs);
    clock.goBy(this.read() ?? REAL_TIME);
    change(clock);
    const { offsetMs, frozenAtMs } = clock.setting;
    this.#sql.exec("INSERT OR REPLACE INTO clock VALUES (0, ?, ?)", offsetMs, frozenAtMs);
    return { offsetMs, frozenAtMs };
  }
}
