import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** Error for a wrong command line, with a message for the user. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const HELP = { help: { type: "boolean", short: "h" } } as const;

/**
 * Reads the options of a command line, and `--help` with them.
 *
 * @param names whether the command line may have names beside its options. Default: it may not.
 * @throws UsageError for an unknown option or an unexpected name.
 */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  names: "names" | "no names" = "no names",
) {
  try {
    return parseArgs({
      // pnpm passes the dashes of `pnpm soak -- --seed 1` on.
      args: args[0] === "--" ? args.slice(1) : [...args],
      options: { ...options, ...HELP },
      allowPositionals: names === "names",
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads an option that is a whole number from `min` to `max`; `fallback` if it is not given. Throws UsageError. */
export function whole<Fallback>(
  option: string,
  text: string | undefined,
  fallback: Fallback,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number | Fallback {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  throw new UsageError(`${option} must be a whole number, ${range}, not "${text}".`);
}

/** Reads an option that is a number above 0; `fallback` if it is not given. Throws UsageError. */
export function positive<Fallback>(
  option: string,
  text: string | undefined,
  fallback: Fallback,
): number | Fallback {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${option} must be a number above 0, not "${text}".`);
}

/** Runs this process's command. Exit status: 0 if `run` resolves to `true`, 1 if not, 2 for a wrong command line. */
export async function runProgram<Command>({
  usage,
  parse,
  run,
}: {
  readonly usage: string;
  parse(args: readonly string[]): Command | "help";
  run(command: Command): Promise<boolean>;
}): Promise<void> {
  try {
    const command = parse(process.argv.slice(2));
    if (command === "help") console.log(usage);
    else process.exitCode = (await run(command)) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
  }
}
