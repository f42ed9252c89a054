import type { Register } from "@sluice/project/register/register";
import type { OwnProject } from "@sluice/project/register/serve-projects";
import type { CloudflareApi } from "./cloudflare-api.ts";

/** A consumer of the broker that a command does not name. */
export interface OtherConsumer {
  readonly worker: string;
  /** `null` for the project's own. */
  readonly project: string | null;
  readonly standing: Standing;
}

/**
 * How a consumer stands to the broker.
 *
 * - `bound`: it is called, and stays so.
 * - `unfinished`: it is on the account, and the deployment that was to bind it has not ended yet.
 * - `gone`: it is not on the account, so that nothing can be bound to it.
 */
export type Standing = "bound" | "unfinished" | "gone";

/**
 * Consumers of a register besides those that a command names. Nothing is bound here that is not bound now: whether a
 * Worker has our entrypoint yet, its own deployment knows.
 *
 * @param bound Workers that the live broker is bound to.
 */
export async function othersOf(
  { projects }: Register,
  own: OwnProject,
  bound: readonly string[],
  api: CloudflareApi,
): Promise<OtherConsumer[]> {
  const consumers = Object.entries(projects).flatMap(([project, { workers }]) =>
    Object.entries(workers)
      .filter(
        ([worker, tables]) => !isNamed(own, worker) && tables.consumers.some(({ type }) => type === "worker"),
      )
      .map(([worker]) => ({ worker, project: project === own.name ? null : project })),
  );
  return Promise.all(
    consumers.map(async (consumer) => ({
      ...consumer,
      standing:
        (await api.deployed(consumer.worker)) === null
          ? "gone"
          : bound.includes(consumer.worker)
            ? "bound"
            : "unfinished",
    })),
  );
}

function isNamed({ entry }: OwnProject, worker: string): boolean {
  return Object.hasOwn(entry.workers, worker);
}

/** A line of the plan. */
export function otherText({ worker, project, standing }: OtherConsumer): string {
  const which = project === null ? "not named here" : `of the project "${project}"`;
  switch (standing) {
    case "bound":
      return `  • ${worker}  ${which}: it stays bound`;
    case "unfinished":
      return `  • ${worker}  ${which}: its messages wait until its own deployment has ended`;
    case "gone":
      return `  ! ${worker}  ${which}: not on the account, its messages wait${project === null ? ` (--detach ${worker} forgets it)` : ""}`;
  }
}

/** A line of the plan. */
export function detachedText(worker: string): string {
  return `  - ${worker}  detached: the broker calls it no more, and what it has not consumed waits`;
}
