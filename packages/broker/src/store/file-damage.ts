import type { HostStorage } from "../platform/host.ts";

/**
 * Largest database that is checked for its structure at every start, in bytes: that reads all of it. Measured at
 * 0.6 GB/s, so a start waits for 0.1 s at most.
 */
export const STRUCTURE_CHECK_BYTES_MAX = 64_000_000;

/**
 * Largest database that is repaired once damage was met in its use, in bytes. Measured: 0.87 GB in 5.7 s, and the
 * platform ends an object whose start takes 30 s. The copy takes as much room again as the table that is put aside.
 */
export const REPAIR_BYTES_MAX = 1_000_000_000;

/** Findings of SQLite that are read: those about the list of free pages come first. */
const FINDINGS_MAX = 100;

/** How far ahead of a row that cannot be read the next readable one is looked for, at most: all ids are smaller. */
const IDS_MAX = Number.MAX_SAFE_INTEGER;

/** A table, and what of a row can be missing: its reader tells that by a seal which does not fit. */
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
  /** Damaged where nothing of the queue lies. */
  | { readonly kind: "harmless"; readonly finding: string }
  /** Tables were damaged. What could be read of them lies in new ones, and the file can be used. */
  | { readonly kind: "repaired"; readonly finding: string }
  /** Damaged beyond repair: readable data is used, and nothing can be written that is sure to stay. */
  | { readonly kind: "damaged"; readonly finding: string };

/** Whether a failure means that a database file does not hold together. */
export function isFileDamage(error: unknown): boolean {
  return /SQLITE_(CORRUPT|NOTADB)/.test(String(error));
}

/**
 * Looks at the structure of a queue's database file, and repairs what is damaged: a table that does not hold together
 * is put aside, not deleted, and what can be read of it is copied into a new one, in one transaction. To write into the
 * damaged one could make it worse, or come to nothing at the next start.
 *
 * @param isSuspect Whether the file was found to be damaged in its use: then its size does not excuse it.
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
  // Pages from such a list can be ones that are in use.
  if (findings.some((text) => /freelist/i.test(text))) return { kind: "damaged", finding };
  try {
    const known = namesIn(sql);
    const damaged = TABLES.filter(({ name }) => known.has(name) && findingsIn(sql, name).length > 0);
    if (damaged.length === 0) {
      // What was put aside by an earlier start is still there, and was told then.
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

/** Lists the damage that SQLite finds, in its words: in all of the file, or in one table. */
function findingsIn(sql: SqlStorage, limit: number | string): string[] {
  try {
    const rows = sql.exec<{ quick_check: string }>(`PRAGMA quick_check(${limit})`).toArray();
    const lines = rows.flatMap((row) => row.quick_check.split("\n"));
    return lines.filter((line) => line !== "ok" && !line.startsWith("***"));
  } catch (error) {
    // Not every platform lets a Durable Object ask.
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

/** A table that is put aside, and by what values of its key which columns of it can be read. */
interface Plan {
  readonly table: Table;
  readonly aside: string;
  readonly definition: string;
  readonly whole: readonly (string | number)[];
  /** Without what is replaceable: such a row says how many messages are lost. */
  readonly partial: readonly (string | number)[];
}

/** Reads all of a damaged table. Before anything is written: the platform ends an object whose write meets damage. */
function planFor(sql: SqlStorage, table: Table, known: ReadonlySet<string>): Plan {
  const { name, key, needed, replaceable, hasNumbers } = table;
  const { definition } = sql
    .exec<{ definition: string }>("SELECT sql AS definition FROM sqlite_master WHERE name = ?", name)
    .one();
  const canRead = (columns: readonly string[], value: string | number) =>
    isReadable(() => sql.exec(`SELECT ${columns.join(", ")} FROM ${name} WHERE ${key} = ?`, value).toArray());
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

/** Within a transaction. */
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

/** Keys that are texts: from the first one up and from the last one down, as far as they can be read. */
function readableTexts(sql: SqlStorage, table: string, key: string): Set<string> {
  const found = new Set<string>();
  for (const order of ["ASC", "DESC"]) {
    isReadable(() => {
      const rows = sql.exec<{ value: string }>(
        `SELECT ${key} AS value FROM ${table} ORDER BY ${key} ${order}`,
      );
      for (const { value } of rows) found.add(value);
    });
  }
  return found;
}

/** Ids from the first one up; after one that cannot be read it goes on with those behind. */
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
  while (!isReadable(ascend)) {
    const next = nextReadable(sql, table, last);
    if (next === null) break;
    const [from, to] = [last, next];
    // From there down to what is damaged: the step may have been too large.
    isReadable(() => {
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

/** An id above `last` that can be read, though those between cannot; `null` if there is none. */
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
    if (isReadable(look)) return next;
  }
  return null;
}

/** Runs `read`, unless damage ends it. */
function isReadable(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (isFileDamage(error)) return false;
    throw error;
  }
}
