import { GroupCommit } from "../src/turn/group-commit.ts";

/** Lets every promise that can go on do so. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A group commit whose turns are listed by the names of their jobs, with a timer that rings when the test lets time
 * pass.
 *
 * @param options.held whether turns are durable only when the test says so. Default: at once.
 */
export function observed(options: { held?: boolean } = {}) {
  const turns: string[][] = [];
  const broken: unknown[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  const timers: { readonly atMs: number; ring(): void }[] = [];
  const state = { turnFailure: null as Error | null };
  let jobs: string[] = [];
  let durable = 0;
  let nowMs = 0;
  const commit = new GroupCommit({
    after: (ring, ms) => void timers.push({ atMs: nowMs + ms, ring }),
    turn: (run) => {
      jobs = [];
      run();
      turns.push(jobs);
      if (state.turnFailure !== null) throw state.turnFailure;
    },
    synced: () => {
      if (options.held !== true) return Promise.resolve();
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
    durable: () => {
      durable += 1;
    },
    broken: (error) => broken.push(error),
  });
  /** Lets time pass and every timer ring at its moment. */
  const pass = async (ms: number) => {
    const untilMs = nowMs + ms;
    for (let next = timers[0]; next !== undefined && next.atMs <= untilMs; next = timers[0]) {
      timers.shift();
      nowMs = next.atMs;
      next.ring();
      await settled();
    }
    nowMs = untilMs;
  };
  const work = (name: string) => () => {
    jobs.push(name);
    return `${name} is done`;
  };
  const submit = (name: string) => commit.submit(work(name));
  const defer = (name: string) => commit.submit(work(name), "deferred");
  return { commit, submit, defer, turns, syncs, broken, state, pass, durableTurns: () => durable };
}
