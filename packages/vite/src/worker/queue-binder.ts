import { type InstallOptions, installProducers, type ProducerSpec } from "@sluice/producer";
import { hideBindings } from "@sluice/project/runtime/worker";

/** Puts queues that send to the broker into an `env`, and takes bindings of ours out of the list of its names. */
export type BindQueues = (env: unknown) => unknown;

/**
 * Puts the queues into the importable `env`, and returns a function for any other `env`: the runner of Vite copies
 * the bindings for each call of a handler and for each instance of a class.
 *
 * @param env `env` of `cloudflare:workers`.
 * @param hidden names of bindings that the user's code does not find in a list.
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
