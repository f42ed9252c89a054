import { CliError } from "@sluice/project/errors";
import type { Part } from "./parts.ts";

/** Deployed state of a part. */
export interface Live {
  /** Tag of the version that gets the requests; `null` for one that another tool deployed. */
  readonly tag: string | null;
  /** Names of the Workers that it is bound to by service bindings. */
  readonly services: readonly string[];
}

/** Wanted state of a part. */
export interface Wanted {
  readonly part: Part;
  /** Tag of its contents: code, configuration and assets. */
  readonly tag: string;
  /** Tag of a broker without its bindings to the Workers named. */
  tagWithout(workers: readonly string[]): string;
}

/** One upload. */
export interface Step {
  readonly part: Part;
  readonly tag: string;
  /** Workers that this upload leaves unbound, since they are uploaded after it. */
  readonly without: readonly string[];
}

/**
 * Plans the uploads that lead from the deployed state to the wanted one, in an order that Cloudflare accepts from any
 * state: it refuses a binding to a Worker that is not there. After each upload the deployment works.
 *
 * The broker goes first, since a new producer may need a new broker. This first upload leaves out Workers that the
 * broker does not call yet and that are deployed after it: a consumer must be there, with our entrypoint, before it is
 * called. The broker is deployed again with them at the end, and their messages wait meanwhile.
 *
 * @throws CliError for Workers that are bound to one another in a circle and of which one is not there yet.
 */
export function stepsTo(wanted: readonly Wanted[], live: ReadonlyMap<string, Live>): Step[] {
  const broker = wanted.find(({ part }) => part.isBroker);
  if (broker === undefined) throw new Error("every deployment has a broker");
  const workers = wanted.filter((one) => one !== broker);
  const bound = live.get(broker.part.name)?.services ?? [];
  const liveTag = live.get(broker.part.name)?.tag ?? null;
  const whole: Step = { part: broker.part, tag: broker.tag, without: [] };
  const steps = inOrder(workers, live)
    .filter(({ part, tag }) => live.get(part.name)?.tag !== tag)
    .map(({ part, tag }): Step => ({ part, tag, without: [] }));
  const boundLater = broker.part.needs.filter(
    (name) => !live.has(name) || (!bound.includes(name) && steps.some(({ part }) => part.name === name)),
  );
  if (boundLater.length === 0) return liveTag === whole.tag ? steps : [whole, ...steps];
  const first: Step = { part: broker.part, tag: broker.tagWithout(boundLater), without: boundLater };
  return [...(liveTag === first.tag ? [] : [first]), ...steps, whole];
}

/** Orders Workers after those that they are bound to. Throws `CliError` for a circle, unless all of it is deployed. */
export function inOrder<T extends { readonly part: Part }>(
  workers: readonly T[],
  live: Pick<ReadonlyMap<string, unknown>, "has">,
): T[] {
  const byName = new Map(workers.map((worker) => [worker.part.name, worker]));
  const ordered: T[] = [];
  const visit = (worker: T, path: readonly string[]): void => {
    if (ordered.includes(worker)) return;
    const { name, needs } = worker.part;
    if (path.includes(name)) {
      const circle = path.slice(path.indexOf(name));
      const absent = circle.find((one) => !live.has(one));
      if (absent === undefined) return;
      throw new CliError(
        `${circle.map((one) => `"${one}"`).join(" and ")} are bound to one another, and "${absent}" is not on the ` +
          `account yet. Cloudflare takes no binding to a Worker that is not there: deploy one of them without its ` +
          `binding first, by "wrangler deploy", then run this again.`,
      );
    }
    for (const need of needs) {
      const other = byName.get(need);
      if (other !== undefined) visit(other, [...path, name]);
    }
    ordered.push(worker);
  };
  for (const worker of workers) visit(worker, []);
  return ordered;
}
