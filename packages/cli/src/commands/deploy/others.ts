import type { Register } from "@sluice/project/register/register";
import type { OwnProject } from "@sluice/project/register/serve-projects";
import type { CloudflareApi } from "./cloudflare-api.ts";

/** A Worker that consumes queues of the broker and is not named in the command. */
interface OtherConsumer {
  readonly worker: string;
  /** Its project; `null` for the command's own. */
  readonly project: string | null;
  readonly standing: Standing;
}

/**
 * State of a consumer with the broker.
 *
 * - `bound`: the broker calls it, and continues to.
 * - `unfinished`: it is on the account, but the deployment that binds it has not ended.
 * - `gone`: it is not on the account, so nothing can be bound to it.
 */
type Standing = "bound" | "unfinished" | "gone";

/**
 * Lists the consumers of a register besides those that a command names. A consumer that is not bound now stays unbound:
 * only its own deployment can tell whether it has our entrypoint yet.
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
        ([worker, { consumers }]) =>
          !Object.hasOwn(own.entry.workers, worker) && consumers.some(({ type }) => type === "worker"),
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

/** Formats the plan's line for a consumer that is not named in the command. */
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

/** Formats the plan's line for a detached Worker. */
export function detachedText(worker: string): string {
  return `  - ${worker}  detached: the broker calls it no more, and what it has not consumed waits`;
}
