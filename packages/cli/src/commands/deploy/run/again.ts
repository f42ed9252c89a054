import type { Part } from "../parts.ts";
import type { Live } from "../steps.ts";
import type { Unfinished } from "./unfinished.ts";

interface AgainOptions {
  /** Whether everything is deployed, even what is live already. */
  readonly force: boolean;
  /** Names of the broker's secrets that are set. Cloudflare shows no values, so they cannot be compared. */
  readonly secrets: readonly string[];
  readonly unfinished: Pick<Unfinished, "has">;
  /** Names of the Workers whose live version is not marked with this project and this broker. */
  readonly unmarked: Pick<ReadonlySet<string>, "has">;
}

/** Lists the parts that are deployed even if their wanted version is live, each with the reason. */
export function againOf(parts: readonly Part[], options: AgainOptions): Map<string, string> {
  return new Map(
    parts.flatMap((part) => {
      const reason = reasonFor(part, options);
      return reason === null ? [] : [[part.name, reason] as const];
    }),
  );
}

function reasonFor(part: Part, { force, secrets, unfinished, unmarked }: AgainOptions): string | null {
  if (force) return "--force";
  if (unfinished.has(part.name)) return "its last deployment did not end";
  if (unmarked.has(part.name)) return "it is not marked with this project and this broker yet";
  if (part.isBroker && secrets.length > 0) return `with ${secrets.join(", ")}`;
  return hasContainers(part) ? "its containers are deployed after its code, and may not be there" : null;
}

/** Removes the tags of the named parts, so that they count as changed and are deployed. */
export function withoutTags(
  live: ReadonlyMap<string, Live>,
  names: Pick<ReadonlyMap<string, unknown>, "has">,
) {
  return new Map(
    [...live].map(([name, one]) => [name, names.has(name) ? { ...one, tag: null } : one] as const),
  );
}

function hasContainers({ config }: Part): boolean {
  const { containers = [] } = JSON.parse(config) as { containers?: readonly unknown[] };
  return containers.length > 0;
}
