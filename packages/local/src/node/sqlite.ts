let sqlite: typeof import("node:sqlite") | undefined;

/**
 * Loads Node's SQLite at the first call. Node.js 22 then warns that it is experimental. Users of a broker cannot act on
 * that, so the warning is dropped. To be called before any module is loaded that imports `node:sqlite`.
 */
export function loadSqlite(): typeof import("node:sqlite") {
  sqlite ??= withoutWarning(() => process.getBuiltinModule("node:sqlite"));
  return sqlite;
}

function withoutWarning<Result>(load: () => Result): Result {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
    if (!/^SQLite is an experimental feature/.test(String(warning))) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
