/** Effect of a statement: it only `reads`, or it `writes` and may also return rows. */
export type Effect = "reads" | "writes";

/** Matches strings, quoted names and comments, whose content is not SQL. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Matches statements that only read, if they return rows. `WITH` may begin one that writes. */
const READS = /^\s*(?:SELECT|VALUES|EXPLAIN|PRAGMA)\b/i;
const CHANGES_ROWS = /^\s*(?:INSERT|REPLACE|UPDATE|DELETE|WITH)\b/i;

/** Facts about a statement that follow from its text. */
export interface StatementText {
  readonly effect: Effect;
  /** Whether SQLite's number of changed rows is this statement's: others leave that of an earlier statement. */
  readonly changesRows: boolean;
  /** Number of its parameters; `null` where they are numbered or named. */
  readonly parameters: number | null;
}

/** Analyses the text of a statement. @param hasRows whether the statement returns rows. */
export function statementText(sql: string, hasRows: boolean): StatementText {
  const bare = sql.replace(QUOTED, (quoted) => (/^(?:--|\/\*)/.test(quoted) ? " " : "''"));
  const isNumbered = /\?\d|[:@$][A-Za-z_]/.test(bare);
  return {
    effect: hasRows && READS.test(bare) ? "reads" : "writes",
    changesRows: CHANGES_ROWS.test(bare),
    parameters: isNumbered ? null : bare.split("?").length - 1,
  };
}

/** Whether a text consists only of whitespace, comments and semicolons. */
export function isBlank(sql: string): boolean {
  return /^[\s;]*$/.test(sql.replace(QUOTED, (quoted) => (/^(?:--|\/\*)/.test(quoted) ? " " : quoted)));
}
