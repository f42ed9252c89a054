import type { Database, SqlValue } from "../sqlite/database.ts";

/** Key of the alarm in workerd's own table. */
const ALARM_KEY = 1;
/** workerd stores alarms in ns. */
export const NS_PER_MS = 1_000_000n;
/** Latest alarm, in ms since 1970: in the year 2262, since its nanoseconds are a 64-bit integer. */
export const ALARM_MS_MAX = Math.floor(Number(2n ** 63n / NS_PER_MS)) - 1;

/** Reads the alarm in an object's own database, in ms since 1970; `null` for none. */
export function readAlarm(database: Database): number | null {
  if (database.all("SELECT 1 FROM sqlite_master WHERE name = '_cf_METADATA'").length === 0) return null;
  const [row] = database.all(
    "SELECT value / 1000000 AS at_ms FROM _cf_METADATA WHERE key = ? AND value IS NOT NULL",
    [ALARM_KEY],
  );
  return row === undefined ? null : Number(row.at_ms);
}

/** Writes the alarm to an object's own database; `null` for none. */
export function writeAlarm(
  atMs: number | null,
  write: (sql: string, values: readonly SqlValue[]) => void,
): void {
  write("CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)", []);
  const value = atMs === null ? null : BigInt(atMs) * NS_PER_MS;
  write("INSERT OR REPLACE INTO _cf_METADATA VALUES (?, ?)", [ALARM_KEY, value]);
}

/**
 * Returns the time at which an alarm that an object sets rings: now if that is past, as on the platform.
 *
 * @throws TypeError for an invalid date, or one later than `ALARM_MS_MAX`.
 */
export function alarmMsOf(at: number | Date, nowMs: number): number {
  const atMs = Math.trunc(Number(at));
  if (Number.isNaN(atMs) || atMs > ALARM_MS_MAX) throw new TypeError(`an alarm cannot be set to ${at}`);
  return Math.max(atMs, nowMs);
}
