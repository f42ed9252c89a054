import { readOptions, UsageError } from "@sluice/harness/command-line";
import { FRAMEWORKS, type FrameworkName } from "./frameworks.ts";

export interface Command {
  readonly frameworks: readonly FrameworkName[];
}

const NAMES = Object.keys(FRAMEWORKS) as FrameworkName[];

export const USAGE = `pnpm try-frameworks [options]

  --framework NAME  ${NAMES.join(", ")} (default: each)`;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command | "help" {
  const { values } = readOptions(args, { framework: { type: "string" } });
  if (values.help === true) return "help";
  const frameworks = NAMES.filter((name) => values.framework === undefined || values.framework === name);
  if (frameworks.length > 0) return { frameworks };
  throw new UsageError(`--framework is one of ${NAMES.join(", ")}, not "${values.framework}".`);
}
