let sqlite: typeof import("node:sqlite") | undefined;

/**
 * Node's SQLite, loaded when it is first asked for. Node.js 22 says then that it is experimental: nothing that users of
 * a broker could act on, so that is not printed. Whoever loads a module that imports `node:sqlite` calls this before.
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
