import type { Effect } from "../http/page-origin.ts";
import type { Need, QueuesNeeded } from "../rights/rights.ts";

/** An action of a service. */
export interface AwsAction<Context, Input, Output> {
  /** Carries it out. Resolves with `undefined` where it answers nothing. */
  readonly run: (context: Context, input: Input) => Promise<Output>;
  /** What its caller needs. */
  readonly need: Need;
}

/** What callers need of the queues that actions are about. */
export function needsOf(queues: QueuesNeeded) {
  const need = (scope: Need["scope"]): Need => ({ scope, queues });
  return {
    ...{ ANY: need("any"), READ: need("read"), SEND: need("send"), CONSUME: need("consume") },
    changing: (audit: string): Need => ({ ...need("admin"), audit }),
  };
}

/**
 * What each action does: one that needs no more than to read changes nothing.
 *
 * @param others what some do besides.
 */
export function effectsOf<Name extends string>(
  actions: Readonly<Record<Name, { readonly need: Need }>>,
  others: Partial<Readonly<Record<Name, Effect>>> = {},
): Readonly<Record<Name, Effect>> {
  const effects = Object.entries<{ readonly need: Need }>(actions).map(([name, { need }]) => {
    const reads = need.scope === "read" || need.scope === "any";
    return [name, reads ? "reads" : "changes"];
  });
  return { ...Object.fromEntries(effects), ...others };
}
