import type { Run } from "./migrations.ts";

/** Table `meta` (`migrations.ts`): single values of a queue by key. */
export class MetaTable {
  readonly #run: Run;
  readonly #execute: (sql: string, ...bindings: unknown[]) => void;

  /** @param execute executes a write with the commit in the making. */
  constructor(run: Run, execute: (sql: string, ...bindings: unknown[]) => void) {
    this.#run = run;
    this.#execute = execute;
  }

  /** Reads a value as it was written; `null` if there is none. */
  read<Value extends string | number>(key: string): Value | null {
    const [row] = this.#run<{ value: Value }>("SELECT value FROM meta WHERE key = ?", key);
    return row?.value ?? null;
  }

  /** Reads a value that was written as JSON; `null` if there is none. */
  readJson<Value>(key: string): Value | null {
    const text = this.read<string>(key);
    return text === null ? null : (JSON.parse(text) as Value);
  }

  /** @param value `null` for none. */
  write(key: string, value: string | number | null): void {
    this.#execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value);
  }
}
