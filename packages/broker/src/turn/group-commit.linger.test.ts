import { expect, it } from "vitest";
import { observed, settled } from "../../test/group-commit-world.ts";
import { GroupCommit, LINGER_MS, LINGER_MS_MAX } from "./group-commit.ts";

it("deferred work runs first in the next turn that something else makes", async () => {
  const { submit, defer, commit, turns } = observed();
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
  const { defer, turns, pass } = observed();
  void defer("a");
  void defer("b");
  await pass(ms);
  expect(turns).toEqual(expected);
});

it("deferred work waits for less than two rings of the timer, which may have been set for work that is done by now", async () => {
  const { submit, defer, turns, pass } = observed();
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
  const { submit, defer, turns, syncs, pass } = observed({ held: true });
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
  const { submit, defer, syncs } = observed({ held: true });
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
  const { commit, defer, turns, pass } = observed();
  const a = defer("a");
  const over = new Error("over");
  commit.end(over);
  await expect(a).rejects.toBe(over);
  await expect(defer("b")).rejects.toBe(over);
  await pass(LINGER_MS_MAX);
  expect(turns).toEqual([]);
});

it("deferred work fails with the turn that it shares", async () => {
  const { submit, defer, broken, state } = observed();
  state.turnFailure = new Error("the disk failed");
  const a = defer("a");
  const b = submit("b");
  await expect(a).rejects.toBe(state.turnFailure);
  await expect(b).rejects.toBe(state.turnFailure);
  expect(broken).toEqual([state.turnFailure]);
});
