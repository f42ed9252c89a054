import { readOptions, UsageError } from "@sluice/harness/command-line";
import { MANAGERS, type ManagerName } from "./managers.ts";

/** Supported versions of Node.js, by major number. */
const NODES = ["22", "24"] as const;

export interface Command {
  readonly managers: readonly ManagerName[];
  readonly nodes: readonly string[];
  /** Packages for other platforms that the registry does not have. */
  readonly without: readonly string[];
}

export const USAGE = `pnpm try-installs [options]

  --manager NAME  ${Object.keys(MANAGERS).join(", ")} (default: each)
  --node MAJOR    ${NODES.join(", ")} (default: each)
  --without NAME  a package for another platform that the registry does not have, which Yarn asks for all the same:
                  an empty one takes its place; repeatable`;

const OPTIONS = {
  manager: { type: "string" },
  node: { type: "string" },
  without: { type: "string", multiple: true },
} as const;

/** Reads a command line. Throws UsageError. */
export function parseCommandLine(args: readonly string[]): Command | "help" {
  const { values } = readOptions(args, OPTIONS);
  if (values.help === true) return "help";
  return {
    managers: pick("--manager", values.manager, Object.keys(MANAGERS) as ManagerName[]),
    nodes: pick("--node", values.node, NODES),
    without: values.without ?? [],
  };
}

function pick<Name extends string>(
  option: string,
  given: string | undefined,
  all: readonly Name[],
): readonly Name[] {
  if (given === undefined) return all;
  const found = all.filter((name) => name === given);
  if (found.length === 0) throw new UsageError(`${option} is one of ${all.join(", ")}, not "${given}".`);
  return found;
}
