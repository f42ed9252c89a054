import { isAmong, type Scope } from "@sluice/protocol";

/** Rights of a caller. */
export interface Rights {
  /** Name of the caller: that of a token, the id of an access key, or one of `ACTORS`. */
  readonly by: string;
  readonly scopes: readonly Scope[];
  /** Names of queues, or beginnings of names that end in `*`. None: every queue, and what belongs to no queue. */
  readonly queues: readonly string[];
}

/**
 * Queues that a request is about.
 *
 * - `one`: queues that it names, in its path or in its body. Its route calls `mayUse` for each.
 * - `listed`: all of them; the answer has those that `mayUse` allows.
 * - `none`: no queue, and nothing secret.
 * - `every`: several queues, or things that belong to no queue. A token for some queues may not do it.
 */
export type QueuesNeeded = "one" | "listed" | "none" | "every";

/** Rights that a request needs. */
export interface Need {
  /** `any`: every token. */
  readonly scope: Scope | "any";
  readonly queues: QueuesNeeded;
  /** Name of the action in the audit log; absent for an action that changes nothing but messages. */
  readonly audit?: string;
}

/** Makes a need for each scope, of requests that are about these queues. */
export function needsOf(queues: QueuesNeeded) {
  const need = (scope: Need["scope"]): Need => ({ scope, queues });
  return {
    ANY: need("any"),
    READ: need("read"),
    SEND: need("send"),
    CONSUME: need("consume"),
    ADMIN: need("admin"),
    changing: (audit: string): Need => ({ ...need("admin"), audit }),
  };
}

/** Makes the rights to do everything. */
export function allRights(by: string): Rights {
  return { by, scopes: ["admin"], queues: [] };
}

/** Why a caller lacks a need, as far as that does not depend on the queue; `null` if it has the need. */
export function needRefusal({ by, scopes, queues }: Rights, need: Need): string | null {
  const { scope } = need;
  if (scope !== "any" && !scopes.includes(scope) && !scopes.includes("admin")) {
    return `The token "${by}" may not do that: it needs the scope ${scope}, and has ${scopes.join(", ")}.`;
  }
  if (need.queues !== "every" || queues.length === 0) return null;
  return `The token "${by}" may not do that: it is for ${queues.join(", ")}, and this is about more than that.`;
}

/** Whether a caller may use a queue of that name. */
export function mayUse({ queues }: Rights, name: string): boolean {
  return queues.length === 0 || isAmong(queues, name);
}

/**
 * Why a caller may not use a queue; `null` if it may.
 *
 * @param called the queue as the request names it. Default: its name.
 */
export function queueRefusal(rights: Rights, name: string, called = `the queue "${name}"`): string | null {
  if (mayUse(rights, name)) return null;
  return `The token "${rights.by}" is for ${rights.queues.join(", ")}, and not for ${called}.`;
}
