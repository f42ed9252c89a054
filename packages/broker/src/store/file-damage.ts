import type { HostStorage } from "../platform/host.ts";

/**
 * Largest database whose structure is checked at every start, in bytes. The check reads all of it, measured at
 * 0.6 GB/s, so a start waits for 0.1 s at most.
 */
export const STRUCTURE_CHECK_BYTES_MAX = 64_000_000;

/**
 * Largest database that is repaired after a query met damage, in bytes. Measured: 0.87 GB in 5.7 s, and the platform
 * ends an object whose start takes 30 s. The copy needs as much room again as the table that is put aside.
 */
export const REPAIR_BYTES_MAX = 1_000_000_000;

/** Most findings of SQLite that are read. Those about the list of free pages come first. */
const FINDINGS_MAX = 100;

/** End of the search for the next readable row, above all ids. */
const IDS_MAX = Number.MAX_SAFE_INTEGER;

/** Table, and the columns that a repaired row may lack. Its reader detects them by a seal that does not match. */
interface Table {
  readonly name: string;
  readonly key: string;
  /** Columns without which a row means nothing. */
  readonly needed: readonly string[];
  readonly replaceable: readonly string[];
  readonly hasNumbers: boolean;
}

const TABLES: readonly Table[] = [
  { name: "meta", key: "key", needed: ["value"], replaceable: [], hasNumbers: false },
  {
    name: "segments",
    key: "id",
    needed: ["commits", "idx", "state"],
    replaceable: ["seal", "payload"],
    hasNumbers: true,
  },
  { name: "segment_states", key: "id", needed: ["commits", "state"], replaceable: [], hasNumbers: true },
  { name: "outbox", key: "id", needed: ["target"], replaceable: ["seal", "payload"], hasNumbers: true },
  { name: "inbox", key: "source", needed: ["last_id", "checksum"], replaceable: [], hasNumbers: false },
  { name: "notes", key: "key", needed: ["value"], replaceable: [], hasNumbers: false },
  { name: "journal", key: "slot", needed: ["body"], replaceable: [], hasNumbers: true },
];

/** Condition of a queue's database file. */
export type FileCondition =
  | { readonly kind: "sound" }
  /** Damaged, but in none of the queue's tables. */
  | { readonly kind: "harmless"; readonly finding: string }
  /** Damaged tables were replaced by new ones with their readable rows. The file can be used. */
  | { readonly kind: "repaired"; readonly finding: string }
  /** Damaged beyond repair: readable data is used, and writes may be lost. */
  | { readonly kind: "damaged"; readonly finding: string };

/** Whether an error means that the database file is damaged. */
export function isFileDamage(error: unknown): boolean {
  return /SQLITE_(CORRUPT|NOTADB)/.test(String(error));
}

/**
 * Checks the structure of a queue's database file and repairs damaged tables. A damaged table is put aside, not
 * deleted, because writes could make it worse; its readable rows are copied into a new one, in one transaction.
 *
 * @param isSuspect Whether a query met damage before: then the file is checked whatever its size.
 */
export function repairFile(storage: HostStorage, isSuspect: boolean): FileCondition {
  const { sql } = storage;
  if (!isSuspect && sql.databaseSize > STRUCTURE_CHECK_BYTES_MAX) return { kind: "sound" };
  if (sql.databaseSize > REPAIR_BYTES_MAX) {
    return { kind: "damaged", finding: `it has ${sql.databaseSize} bytes, which is too much to repair it` };
  }
  const findings = findingsIn(sql, FINDINGS_MAX);
  const [finding] = findings;
  if (finding === undefined) return { kind: "sound" };
  // A damaged list of free pages may name pages that are in use.
  if (findings.some((text) => /freelist/i.test(text))) return { kind: "damaged", finding };
  try {
    const known = namesIn(sql);
    const damaged = TABLES.filter(({ name }) => known.has(name) && findingsIn(sql, name).length > 0);
    if (damaged.length === 0) {
      // A table that an earlier start put aside is still damaged, and was reported then.
      return [...known].some(isPutAside) ? { kind: "sound" } : { kind: "harmless", finding };
    }
    const plans = damaged.map((table) => planFor(sql, table, known));
    storage.transactionSync(() => {
      for (const plan of plans) repairTable(sql, plan);
    });
    return { kind: "repaired", finding };
  } catch (error) {
    return { kind: "damaged", finding: `${finding}; it cannot be repaired: ${error}` };
  }
}

/** Lists the damage that SQLite finds, in its words. @param limit of findings in the file, or the table to check. */
function findingsIn(sql: SqlStorage, limit: number | string): string[] {
  try {
    const rows = sql.exec<{ quick_check: string }>(`PRAGMA quick_check(${limit})`).toArray();
    const lines = rows.flatMap((row) => row.quick_check.split("\n"));
    return lines.filter((line) => line !== "ok" && !line.startsWith("***"));
  } catch (error) {
    // Not every platform allows this pragma.
    return String(error).includes("SQLITE_AUTH") ? [] : [String(error)];
  }
}

function namesIn(sql: SqlStorage): Set<string> {
  const rows = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
  return new Set(rows.map(({ name }) => name));
}

function isPutAside(table: string): boolean {
  return /_damaged_\d+$/.test(table);
}

/** Plan of a table's repair: its name once it is put aside, and the keys of its readable rows. */
interface Plan {
  readonly table: Table;
  readonly aside: string;
  readonly definition: string;
  readonly whole: readonly (string | number)[];
  /** Keys of rows that lack their replaceable columns. Such a row shows how many messages are lost. */
  readonly partial: readonly (string | number)[];
}

/** Reads all of a damaged table, before any write: the platform ends an object whose write meets damage. */
function planFor(sql: SqlStorage, table: Table, known: ReadonlySet<string>): Plan {
  const { name, key, needed, replaceable, hasNumbers } = table;
  const { definition } = sql
    .exec<{ definition: string }>("SELECT sql AS definition FROM sqlite_master WHERE name = ?", name)
    .one();
  const canRead = (columns: readonly string[], value: string | number) =>
    tryRead(() => sql.exec(`SELECT ${columns.join(", ")} FROM ${name} WHERE ${key} = ?`, value).toArray());
  const whole: (string | number)[] = [];
  const partial: (string | number)[] = [];
  for (const value of hasNumbers ? readableIds(sql, name) : readableTexts(sql, name, key)) {
    if (canRead([...needed, ...replaceable], value)) whole.push(value);
    else if (replaceable.length > 0 && canRead(needed, value)) partial.push(value);
  }
  let number = 1;
  while (known.has(`${name}_damaged_${number}`)) number += 1;
  return { table, aside: `${name}_damaged_${number}`, definition, whole, partial };
}

/** Within a transaction: puts a table aside and fills a new one. */
function repairTable(sql: SqlStorage, { table, aside, definition, whole, partial }: Plan): void {
  const { name, key, needed, replaceable } = table;
  sql.exec(`ALTER TABLE ${name} RENAME TO ${aside}`);
  sql.exec(definition);
  const columns = [key, ...needed, ...replaceable];
  const copy = (values: readonly string[], of: string | number) =>
    sql.exec(
      `INSERT INTO ${name} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${aside} WHERE ${key} = ?`,
      of,
    );
  for (const value of whole) copy(columns, value);
  for (const value of partial) copy([key, ...needed, ...replaceable.map(() => "x''")], value);
}

/** Reads keys that are texts, from the first one up and from the last one down, until damage ends it. */
function readableTexts(sql: SqlStorage, table: string, key: string): Set<string> {
  const found = new Set<string>();
  for (const order of ["ASC", "DESC"]) {
    tryRead(() => {
      const rows = sql.exec<{ value: string }>(
        `SELECT ${key} AS value FROM ${table} ORDER BY ${key} ${order}`,
      );
      for (const { value } of rows) found.add(value);
    });
  }
  return found;
}

/** Reads all readable ids, also those beyond damaged pages. */
function readableIds(sql: SqlStorage, table: string): Set<number> {
  const found = new Set<number>();
  let last = -1;
  const ascend = () => {
    const rows = sql.exec<{ id: number }>(
      `SELECT rowid AS id FROM ${table} WHERE rowid > ? ORDER BY rowid`,
      last,
    );
    for (const { id } of rows) {
      found.add(id);
      last = id;
    }
  };
  while (!tryRead(ascend)) {
    const next = nextReadable(sql, table, last);
    if (next === null) break;
    const [from, to] = [last, next];
    // Downwards from the new id, because the step may have skipped readable ones.
    tryRead(() => {
      const rows = sql.exec<{ id: number }>(
        `SELECT rowid AS id FROM ${table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid DESC`,
        from,
        to,
      );
      for (const { id } of rows) found.add(id);
    });
    last = next;
  }
  return found;
}

/** Finds a readable id above `last` beyond damaged pages; `null` if there is none. */
function nextReadable(sql: SqlStorage, table: string, last: number): number | null {
  for (let step = 1; last + step < IDS_MAX; step *= 2) {
    let next: number | null = null;
    const look = () => {
      const rows = sql.exec<{ id: number }>(
        `SELECT rowid AS id FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT 1`,
        last + step,
      );
      next = rows.toArray()[0]?.id ?? null;
    };
    if (tryRead(look)) return next;
  }
  return null;
}

/** Runs `read`. @returns false if damage ended it. */
function tryRead(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (isFileDamage(error)) return false;
    throw error;
  }
}
