import type { ObjectState } from "./instance/instance.ts";

/**
 * Makes the host of an object on Node.js (`Host` of the broker).
 *
 * @param clock clock of deadlines and of the objects' alarms.
 */
export function nodeHost<Env, Clock>(state: ObjectState, env: Env, clock: Clock) {
  return {
    id: state.id,
    env,
    storage: state.storage,
    clock,
    systemMs: () => Date.now(),
    log: console,
    get isOver() {
      return state.storage.isOver;
    },
    after: (callback: () => void, ms: number) => {
      const timer = setTimeout(() => {
        if (!state.storage.isOver) callback();
      }, ms);
      return () => clearTimeout(timer);
    },
    blockConcurrencyWhile: <Result>(work: () => Promise<Result>) => state.blockConcurrencyWhile(work),
    abort: (reason: string) => state.abort(reason),
  };
}
