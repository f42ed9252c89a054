import { describe, expect, it } from "vitest";
import { GroupCommit, LEAVING_MS_MAX, type LeavingLeases } from "./group-commit.ts";
import { LONE_AFTER_TURNS, LONE_TURNS_PER_MS_MAX } from "./lone-turns.ts";

/** A group commit whose turns are listed by the names of their jobs, and are durable when the test says so. */
function observed(options: { held?: boolean; hasOutputGate?: boolean } = {}) {
  const turns: string[][] = [];
  const broken: unknown[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  let jobs: string[] = [];
  let durable = 0;
  const state = { turnFailure: null as Error | null, leases: "none" as LeavingLeases, nowMs: 1_000 };
  const timers: (() => void)[] = [];
  const commit = new GroupCommit({
    nowMs: () => state.nowMs,
    after: (callback) => timers.push(callback),
    hasOutputGate: options.hasOutputGate,
    turn: (run) => {
      jobs = [];
      run();
      turns.push(jobs);
      if (state.turnFailure !== null) throw state.turnFailure;
      return state.leases;
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
  const submit = (name: string) =>
    commit.submit(() => {
      jobs.push(name);
      return `${name} is done`;
    });
  return { commit, submit, turns, syncs, timers, broken, state, durableTurns: () => durable };
}

/** Lets every promise that can go on do so. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("group commit", () => {
  it("runs work at once when no commit is in flight: nobody waits for company", () => {
    const { submit, turns } = observed({ held: true });
    void submit("a");
    expect(turns).toEqual([["a"]]);
  });

  it("runs what is submitted together in one turn, and says that it is durable before anybody learns of it", async () => {
    const { commit, submit, turns, durableTurns } = observed();
    const seen: number[] = [];
    const all = commit.together(() => ["a", "b"].map((name) => submit(name).then(() => durableTurns())));
    expect(turns).toEqual([["a", "b"]]);
    seen.push(...(await Promise.all(all)));
    expect(seen).toEqual([1, 1]);
    await submit("c");
    expect(turns).toEqual([["a", "b"], ["c"]]);
  });

  it("runs everything that arrives while a commit is in flight in the next turn, in its order", async () => {
    const { submit, turns, syncs } = observed({ held: true });
    const all = ["a", "b", "c", "d"].map((name) => submit(name));
    expect(turns).toEqual([["a"]]);
    syncs[0]?.resolve();
    await settled();
    expect(turns).toEqual([["a"], ["b", "c", "d"]]);
    void submit("e");
    syncs[1]?.resolve();
    await settled();
    expect(turns).toEqual([["a"], ["b", "c", "d"], ["e"]]);
    expect(await Promise.all(all)).toEqual(["a is done", "b is done", "c is done", "d is done"]);
  });

  it("answers when the commit is durable and not before", async () => {
    const { submit, syncs } = observed({ held: true });
    let answered = false;
    const done = submit("a").then(() => {
      answered = true;
    });
    await settled();
    expect(answered).toBe(false);
    syncs[0]?.resolve();
    await done;
    expect(answered).toBe(true);
  });

  it("starts a new turn at once after the last one has ended", async () => {
    const { submit, turns } = observed();
    await submit("a");
    await settled();
    void submit("b");
    expect(turns).toEqual([["a"], ["b"]]);
  });

  it("rejects work that throws, after the commit, and goes on with the rest", async () => {
    const { commit, submit, turns, broken } = observed();
    const mistake = new Error("mistake");
    const failing = commit.submit(() => {
      throw mistake;
    });
    const beside = submit("b");
    await expect(failing).rejects.toBe(mistake);
    expect(await beside).toBe("b is done");
    expect(turns).toEqual([[], ["b"]]);
    expect(broken).toEqual([]);
  });

  it("resolves with undefined where work answers with it", async () => {
    const { commit } = observed();
    await expect(commit.submit(() => undefined)).resolves.toBeUndefined();
  });
});

describe("a turn that fails", () => {
  it("rejects all its jobs and reports broken once", async () => {
    const { submit, syncs, broken, state } = observed({ held: true });
    const before = submit("a");
    const [b, c] = [submit("b"), submit("c")];
    state.turnFailure = new Error("the disk failed");
    syncs[0]?.resolve();
    await expect(b).rejects.toBe(state.turnFailure);
    await expect(c).rejects.toBe(state.turnFailure);
    expect(await before).toBe("a is done");
    expect(broken).toEqual([state.turnFailure]);
  });

  it("ends everything: memory and store have parted, so later work is refused without being run", async () => {
    const { submit, turns, broken, state } = observed();
    const failure = new Error("the disk failed");
    state.turnFailure = failure;
    const [a, b] = [submit("a"), submit("b")];
    await expect(a).rejects.toBe(failure);
    await expect(b).rejects.toBe(failure);
    state.turnFailure = null;
    await expect(submit("c")).rejects.toBe(failure);
    expect(turns).toEqual([["a"]]);
    expect(broken).toEqual([failure]);
  });

  it("is a turn too whose commit does not become durable", async () => {
    const { submit, turns, syncs, broken } = observed({ held: true });
    const [a, b] = [submit("a"), submit("b")];
    const failure = new Error("the disk was lost");
    syncs[0]?.reject(failure);
    await expect(a).rejects.toBe(failure);
    await expect(b).rejects.toBe(failure);
    expect(turns).toEqual([["a"]]);
    expect(broken).toEqual([failure]);
  });
});

describe("behind an output gate", () => {
  /** A group commit that has had enough turns of one job each. */
  async function alone() {
    const all = observed({ held: true, hasOutputGate: true });
    for (let i = 0; i < LONE_AFTER_TURNS; i++) {
      const done = all.commit.submitGated(() => i);
      all.syncs.at(-1)?.resolve();
      await done;
    }
    return { ...all, before: all.syncs.length };
  }

  it("a job that nobody joins is answered without waiting for its sync", async () => {
    const { commit, syncs, before } = await alone();
    expect(await commit.submitGated(() => "durable when it leaves")).toBe("durable when it leaves");
    expect(syncs).toHaveLength(before);
  });

  it("a job on whose promise more depends than an answer waits all the same", async () => {
    const { submit, syncs, before } = await alone();
    void submit("a");
    await settled();
    expect(syncs).toHaveLength(before + 1);
  });

  it("a turn with which messages leave waits all the same: their lease must not end before", async () => {
    const { commit, syncs, state, before } = await alone();
    state.leases = "brief";
    void commit.submitGated(() => {});
    await settled();
    expect(syncs).toHaveLength(before + 1);
  });

  it.each([
    [LEAVING_MS_MAX - 1, 0],
    [LEAVING_MS_MAX, 1],
    [LEAVING_MS_MAX + 1, 1],
  ])(
    "messages with a long lease keep no turn waiting: a turn after %i ms waits for %i syncs first",
    async (ms, waits) => {
      const { commit, turns, syncs, state, before } = await alone();
      state.leases = "long";
      await commit.submitGated(() => {});
      expect(syncs).toHaveLength(before);
      const earlier = turns.length;
      state.leases = "none";
      state.nowMs += ms;
      const next = commit.submitGated(() => {});
      await settled();
      expect(syncs).toHaveLength(before + waits);
      expect(turns).toHaveLength(earlier + 1 - waits);
      syncs.at(-1)?.resolve();
      await next;
    },
  );

  it("jobs that come together are grouped again, after the few that a ms has room for", async () => {
    const { commit, turns, syncs, before } = await alone();
    const earlier = turns.length;
    const many = Array.from({ length: 10 }, (_, i) => commit.submitGated(() => i));
    expect(turns.length - earlier).toBe(LONE_TURNS_PER_MS_MAX + 1);
    syncs[before]?.resolve();
    await settled();
    expect(turns.length - earlier).toBe(LONE_TURNS_PER_MS_MAX + 2);
    syncs[before + 1]?.resolve();
    expect(await Promise.all(many)).toHaveLength(10);
  });

  it("a commit that turns out not to be durable ends everything", async () => {
    const { commit, syncs, timers, broken, before } = await alone();
    await commit.submitGated(() => {});
    timers[0]?.();
    const failure = new Error("the disk was lost");
    syncs[before]?.reject(failure);
    await settled();
    expect(broken).toEqual([failure]);
    await expect(commit.submitGated(() => {})).rejects.toBe(failure);
  });
});
