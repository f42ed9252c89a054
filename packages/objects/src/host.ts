import type { ObjectState } from "./instance/instance.ts";

/**
 * The host of an object on Node.js, as the broker's classes know it (`Host`).
 *
 * @param clock the time that deadlines go by, and the objects' alarms with it.
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
