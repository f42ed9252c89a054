import type { ShardMap } from "../../shards/shard-map.ts";
import type { Jurisdiction } from "./directory.ts";

/** Namespace of the Durable Objects of queues: the methods that find them. */
export interface QueueNamespace<Stub> {
  getByName(name: string): Stub;
  /** Finds those of a jurisdiction. Throws on workerd; absent on Node.js. */
  jurisdiction?(jurisdiction: Jurisdiction): QueueNamespace<Stub>;
}

/**
 * Text in the error of an object whose queue is in another place. A contract between versions of Workers and broker.
 */
export const ELSEWHERE = "is kept in another jurisdiction";

/** Whether the platform makes objects in a jurisdiction. */
export function hasJurisdictions(namespace: { jurisdiction?(jurisdiction: Jurisdiction): unknown }): boolean {
  try {
    return namespace.jurisdiction?.("eu") !== undefined;
  } catch {
    return false;
  }
}

/** Returns the part of a namespace whose objects are made in a jurisdiction; all of it for none. */
export function inPlace<Namespace extends { jurisdiction?(jurisdiction: Jurisdiction): unknown }>(
  namespace: Namespace,
  place: Jurisdiction | null | undefined,
): Namespace {
  return place == null ? namespace : (namespace.jurisdiction?.(place) as Namespace);
}

interface QueueObjectsPorts<Stub> {
  /** Called for every call of a queue, because a stub must not outlive the request that made it. */
  namespace(): QueueNamespace<Stub>;
  /** Asks the directory where a queue is. */
  placeOf(queue: string): Promise<Jurisdiction | null>;
  /** Asks the directory for a queue's shards; `null` for one that never had more than one. Default: no queue has. */
  mapOf?(queue: string): Promise<ShardMap | null>;
}

/**
 * Finds the objects of queues, each in its jurisdiction. The directory is asked once for each queue, and again when the
 * queue's former object says that the queue was deleted and created elsewhere (`ELSEWHERE`). Where the platform has no
 * jurisdictions it is not asked.
 */
export class QueueObjects<Stub extends object> {
  readonly #ports: QueueObjectsPorts<Stub>;
  readonly #places = new Map<string, Jurisdiction | null>();
  #hasJurisdictions: boolean | null = null;

  constructor(ports: QueueObjectsPorts<Stub>) {
    this.#ports = ports;
  }

  /**
   * Returns the object of a queue, for calls within this request.
   *
   * @param name name of a shard. Default: the queue's.
   */
  of(queue: string, name = queue): Stub {
    const namespace = this.#ports.namespace();
    this.#hasJurisdictions ??= hasJurisdictions(namespace);
    if (!this.#hasJurisdictions) return namespace.getByName(name);
    // Calls of one stub arrive in their order.
    let found: Promise<Stub> | null = null;
    const call = async (method: string | symbol, args: readonly unknown[]): Promise<unknown> => {
      found ??= this.#find(namespace, queue, name);
      const object = await found;
      return Reflect.apply(Reflect.get(object, method) as () => unknown, object, args);
    };
    return new Proxy({} as Stub, {
      get:
        (_, method) =>
        async (...args: readonly unknown[]) => {
          const answer = call(method, args);
          const former = found;
          try {
            return await answer;
          } catch (error) {
            if (!String(error).includes(ELSEWHERE)) throw error;
            // The first of several calls that are refused has the object found anew, for all of them.
            if (found === former) {
              this.#places.delete(queue);
              found = null;
            }
            return call(method, args);
          }
        },
    });
  }

  /** Asks the directory which shards a queue has; `null` where it has one, or there is no answer. */
  async mapOf(queue: string): Promise<ShardMap | null> {
    return (await this.#ports.mapOf?.(queue).catch(() => null)) ?? null;
  }

  async #find(namespace: QueueNamespace<Stub>, queue: string, name: string): Promise<Stub> {
    // The answer and not the promise is kept: another request must not wait for this one's call.
    const known = this.#places.get(queue);
    const place = known === undefined ? await this.#ports.placeOf(queue) : known;
    this.#places.set(queue, place);
    return inPlace(namespace, place).getByName(name);
  }
}
