import { type InstallOptions, installProducers, type ProducerSpec } from "@sluice/producer";
import { hideBindings } from "@sluice/project/runtime/worker";

/** Puts queues that send to the broker into an `env`, and takes bindings of ours out of its listing. */
export type BindQueues = (env: unknown) => unknown;

/**
 * Puts the queues into the importable `env` and returns what does so with every other. Vite's runner makes a copy of
 * the bindings for each call of a handler and for each instance of a class.
 *
 * @param env that of `cloudflare:workers`, as this module's code is given it.
 * @param hidden names of the bindings that the user's code must not come across.
 */
export function queueBinder(
  env: object,
  producers: readonly ProducerSpec[],
  options: InstallOptions,
  hidden: readonly string[],
): BindQueues {
  installProducers(env, producers, options);
  const queues = producers.map(({ binding }): [string, unknown] => [binding, Reflect.get(env, binding)]);
  hideBindings(env, hidden);
  return (other) => {
    if (typeof other !== "object" || other === null || other === env) return other;
    for (const [binding, queue] of queues) Reflect.set(other, binding, queue);
    hideBindings(other, hidden);
    return other;
  };
}
