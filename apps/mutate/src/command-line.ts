import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

export const USAGE = `pnpm mutate PACKAGE [FILE...]

Changes the code of a package in every way that a slip would, and runs its unit tests against each change: a
change that no test notices is printed.

  PACKAGE       name of a folder in packages/, for instance engine
  FILE...       files to change, seen from that folder; default: all of src/ but the tests

  --break N     fail below a score of N percent, 0 to 100 (default: 90)
  --again       start anew instead of taking over the results for what has not changed
  --workers N   processes that run tests at the same time, 1 to 64 (default: 2)`;

/** Score in percent below which the command fails, unless `--break` says otherwise. */
export const SCORE_MIN = 90;
/** Test processes at a time, unless `--workers` says otherwise: a small machine stays usable beside two. */
export const WORKERS = 2;
/** More would need more memory than a machine has: each is a Node process with all tests loaded. */
export const WORKERS_MAX = 64;

/** What one run is about. */
export interface Request {
  /** Folder of the package. Absolute. */
  readonly directory: string;
  readonly packageName: string;
  /** Patterns of the files to change, seen from `directory`. */
  readonly mutate: readonly string[];
  readonly scoreMin: number;
  /** Whether to start anew instead of taking over results of earlier runs. */
  readonly force: boolean;
  /** Processes that run tests at the same time, 1 to `WORKERS_MAX`. */
  readonly workers: number;
}

export type CommandLine =
  | { readonly kind: "run"; readonly request: Request }
  | { readonly kind: "usage" }
  | { readonly kind: "wrong"; readonly reason: string };

/**
 * Reads a command line.
 *
 * @param packages the folder that holds the packages. Absolute.
 */
export function readCommandLine(args: readonly string[], packages: string): CommandLine {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    return { kind: "wrong", reason: error instanceof Error ? error.message : String(error) };
  }
  const { values, positionals } = parsed;
  if (values.help) return { kind: "usage" };
  const [packageName, ...files] = positionals;
  const known = readdirSync(packages).filter((name) => existsSync(join(packages, name, "package.json")));
  if (packageName === undefined || !known.includes(packageName)) {
    const wrong = packageName === undefined ? "Name a package" : `There is no package "${packageName}"`;
    return { kind: "wrong", reason: `${wrong}: ${known.join(", ")}.` };
  }
  const directory = join(packages, packageName);
  const missing = files.find((file) => !existsSync(join(directory, file)));
  if (missing !== undefined) return { kind: "wrong", reason: `There is no ${missing} in ${directory}.` };
  const scoreMin = Number(values.break);
  if (values.break.trim() === "" || !(scoreMin >= 0 && scoreMin <= 100)) {
    return { kind: "wrong", reason: `--break is a number from 0 to 100, not "${values.break}".` };
  }
  const workers = Number(values.workers);
  if (!Number.isInteger(workers) || workers < 1 || workers > WORKERS_MAX) {
    const reason = `--workers is a whole number from 1 to ${WORKERS_MAX}, not "${values.workers}".`;
    return { kind: "wrong", reason };
  }
  const mutate = files.length > 0 ? files : ["src/**/*.ts", "!src/**/*.test.ts"];
  return {
    kind: "run",
    request: { directory, packageName, mutate, scoreMin, force: values.again, workers },
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      break: { type: "string", default: String(SCORE_MIN) },
      workers: { type: "string", default: String(WORKERS) },
      again: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
}
