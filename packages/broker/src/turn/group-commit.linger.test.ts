import { expect, it } from "vitest";
import { GroupCommit, LINGER_MS, LINGER_MS_MAX } from "./group-commit.ts";

/** Lets every promise that can go on do so. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A group commit whose turns are listed by the names of their jobs, with a timer that rings when the test lets time
 * pass.
 */
function lingering(options: { held?: boolean } = {}) {
  const turns: string[][] = [];
  const broken: unknown[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  const timers: { readonly atMs: number; ring(): void }[] = [];
  const state = { turnFailure: null as Error | null };
  let jobs: string[] = [];
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
    durable: () => {},
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
  return { commit, submit, defer, turns, syncs, broken, state, pass };
}

it("deferred work runs first in the next turn that something else makes", async () => {
  const { submit, defer, commit, turns } = lingering();
  const a = defer("a");
  expect(turns).toEqual([]);
  expect(commit.hasDeferred).toBe(true);
  await submit("b");
  expect(turns).toEqual([["a", "b"]]);
  expect(await a).toBe("a is done");
  expect(commit.hasDeferred).toBe(false);
});

it.each([
  [LINGER_MS - 1, []],
  [LINGER_MS, [["a", "b"]]],
  [LINGER_MS + 1, [["a", "b"]]],
])("deferred work after %i ms without other work has had the turns %j", async (ms, expected) => {
  const { defer, turns, pass } = lingering();
  void defer("a");
  void defer("b");
  await pass(ms);
  expect(turns).toEqual(expected);
});

it("deferred work waits for less than two rings of the timer, which may have been set for work that is done by now", async () => {
  const { submit, defer, turns, pass } = lingering();
  void defer("a");
  await pass(1);
  await submit("b");
  void defer("c");
  await pass(LINGER_MS_MAX - 2);
  expect(turns).toEqual([["a", "b"]]);
  await pass(1);
  expect(turns).toEqual([["a", "b"], ["c"]]);
  await pass(10 * LINGER_MS);
  expect(turns).toEqual([["a", "b"], ["c"]]);
});

it("deferred work makes no turn of its own when a commit in flight ends, and one when its time comes meanwhile", async () => {
  const { submit, defer, turns, syncs, pass } = lingering({ held: true });
  void submit("a");
  void defer("b");
  syncs[0]?.resolve();
  await settled();
  expect(turns).toEqual([["a"]]);
  void submit("c");
  void defer("d");
  await pass(LINGER_MS_MAX);
  expect(turns).toEqual([["a"], ["b", "c"]]);
  syncs[1]?.resolve();
  await settled();
  expect(turns).toEqual([["a"], ["b", "c"], ["d"]]);
});

it("deferred work is answered when the commit that it shares is durable", async () => {
  const { submit, defer, syncs } = lingering({ held: true });
  let answered = false;
  const done = defer("a").then(() => {
    answered = true;
  });
  void submit("b");
  await settled();
  expect(answered).toBe(false);
  syncs[0]?.resolve();
  await done;
});

it("deferred work waits for nothing where there is no timer", async () => {
  const commit = new GroupCommit({
    turn: (jobs) => {
      jobs();
    },
    synced: () => Promise.resolve(),
    durable: () => {},
    broken: () => {},
  });
  expect(await commit.submit(() => "done", "deferred")).toBe("done");
});

it("deferred work is rejected when the queue ends, and never run", async () => {
  const { commit, defer, turns, pass } = lingering();
  const a = defer("a");
  const over = new Error("over");
  commit.end(over);
  await expect(a).rejects.toBe(over);
  await expect(defer("b")).rejects.toBe(over);
  await pass(LINGER_MS_MAX);
  expect(turns).toEqual([]);
});

it("deferred work fails with the turn that it shares", async () => {
  const { submit, defer, broken, state } = lingering();
  state.turnFailure = new Error("the disk failed");
  const a = defer("a");
  const b = submit("b");
  await expect(a).rejects.toBe(state.turnFailure);
  await expect(b).rejects.toBe(state.turnFailure);
  expect(broken).toEqual([state.turnFailure]);
});
