/** Effect of a statement: it `reads` and changes nothing, or `writes`, whether or not it has rows to give as well. */
export type Effect = "reads" | "writes";

/** Strings, names in quotation marks, and comments: what stands in them is not SQL. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Statements that only read, if they have rows to give. `WITH` may begin one that writes. */
const READS = /^\s*(?:SELECT|VALUES|EXPLAIN|PRAGMA)\b/i;
const CHANGES_ROWS = /^\s*(?:INSERT|REPLACE|UPDATE|DELETE|WITH)\b/i;

/** Facts about a statement that its text alone tells. */
export interface StatementText {
  readonly effect: Effect;
  /**
   * Whether the number of rows that SQLite says were changed is this statement's: others leave that of the one before.
   */
  readonly changesRows: boolean;
  /** How many values it takes; `null` where they are numbered or named. */
  readonly parameters: number | null;
}

/** @param hasRows whether it has columns to give. */
export function statementText(sql: string, hasRows: boolean): StatementText {
  const bare = sql.replace(QUOTED, (quoted) => (/^(?:--|\/\*)/.test(quoted) ? " " : "''"));
  const isNumbered = /\?\d|[:@$][A-Za-z_]/.test(bare);
  return {
    effect: hasRows && READS.test(bare) ? "reads" : "writes",
    changesRows: CHANGES_ROWS.test(bare),
    parameters: isNumbered ? null : bare.split("?").length - 1,
  };
}

/** Whether nothing but space, comments and semicolons is left of a text. */
export function isBlank(sql: string): boolean {
  return /^[\s;]*$/.test(sql.replace(QUOTED, (quoted) => (/^(?:--|\/\*)/.test(quoted) ? " " : quoted)));
}
