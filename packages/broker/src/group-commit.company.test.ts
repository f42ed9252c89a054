import { describe, expect, it } from "vitest";
import { COMPANY_WAIT_MS, COMPANY_WAIT_MS_MAX, GroupCommit } from "./group-commit.ts";
import { LONE_AFTER_TURNS } from "./lone-turns.ts";

/** Lets every promise that can go on do so. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A group commit whose turns are listed by the names of their jobs, with a timer that rings when the test lets time pass. */
function patient(options: { held?: boolean; hasOutputGate?: boolean } = {}) {
  const turns: string[][] = [];
  const broken: unknown[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  const timers: { readonly atMs: number; ring(): void }[] = [];
  const state = { turnFailure: null as Error | null };
  let jobs: string[] = [];
  let nowMs = 0;
  const commit = new GroupCommit({
    nowMs: () => nowMs,
    after: (ring, ms) => void timers.push({ atMs: nowMs + ms, ring }),
    hasOutputGate: options.hasOutputGate,
    turn: (run) => {
      jobs = [];
      run();
      turns.push(jobs);
      if (state.turnFailure !== null) throw state.turnFailure;
      return "none";
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
  const submitPatient = (name: string) => commit.submitForCompany(work(name));
  const submitGated = (name: string) => commit.submitGated(work(name));
  return { commit, submit, submitPatient, submitGated, turns, syncs, broken, state, pass };
}

describe("work that waits for company", () => {
  it("runs first in the next turn that something else makes", async () => {
    const { submit, submitPatient, commit, turns } = patient();
    const a = submitPatient("a");
    expect(turns).toEqual([]);
    expect(commit.hasPatientWork).toBe(true);
    await submit("b");
    expect(turns).toEqual([["a", "b"]]);
    expect(await a).toBe("a is done");
    expect(commit.hasPatientWork).toBe(false);
  });

  it.each([
    [COMPANY_WAIT_MS - 1, []],
    [COMPANY_WAIT_MS, [["a", "b"]]],
    [COMPANY_WAIT_MS + 1, [["a", "b"]]],
  ])("after %i ms without any has had the turns %j", async (ms, expected) => {
    const { submitPatient, turns, pass } = patient();
    void submitPatient("a");
    void submitPatient("b");
    await pass(ms);
    expect(turns).toEqual(expected);
  });

  it("waits for less than two rings of the timer, which may have been set for work that is done by now", async () => {
    const { submit, submitPatient, turns, pass } = patient();
    void submitPatient("a");
    await pass(1);
    await submit("b");
    void submitPatient("c");
    await pass(COMPANY_WAIT_MS_MAX - 2);
    expect(turns).toEqual([["a", "b"]]);
    await pass(1);
    expect(turns).toEqual([["a", "b"], ["c"]]);
    await pass(10 * COMPANY_WAIT_MS);
    expect(turns).toEqual([["a", "b"], ["c"]]);
  });

  it("makes no turn of its own when a commit in flight ends, and one when its time comes meanwhile", async () => {
    const { submit, submitPatient, turns, syncs, pass } = patient({ held: true });
    void submit("a");
    void submitPatient("b");
    syncs[0]?.resolve();
    await settled();
    expect(turns).toEqual([["a"]]);
    void submit("c");
    void submitPatient("d");
    await pass(COMPANY_WAIT_MS_MAX);
    expect(turns).toEqual([["a"], ["b", "c"]]);
    syncs[1]?.resolve();
    await settled();
    expect(turns).toEqual([["a"], ["b", "c"], ["d"]]);
  });

  it("is answered when the commit that it shares is durable", async () => {
    const { submit, submitPatient, syncs } = patient({ held: true });
    let answered = false;
    const done = submitPatient("a").then(() => {
      answered = true;
    });
    void submit("b");
    await settled();
    expect(answered).toBe(false);
    syncs[0]?.resolve();
    await done;
  });

  it("waits for nothing where there is no timer", async () => {
    const commit = new GroupCommit({
      turn: (jobs) => {
        jobs();
        return "none";
      },
      synced: () => Promise.resolve(),
      durable: () => {},
      nowMs: () => 0,
      broken: () => {},
    });
    expect(await commit.submitForCompany(() => "done")).toBe("done");
  });

  it("is rejected when the queue ends, and never run", async () => {
    const { commit, submitPatient, turns, pass } = patient();
    const a = submitPatient("a");
    const over = new Error("over");
    commit.end(over);
    await expect(a).rejects.toBe(over);
    await expect(submitPatient("b")).rejects.toBe(over);
    await pass(COMPANY_WAIT_MS_MAX);
    expect(turns).toEqual([]);
  });

  it("fails with the turn that it shares", async () => {
    const { submit, submitPatient, broken, state } = patient();
    state.turnFailure = new Error("the disk failed");
    const a = submitPatient("a");
    const b = submit("b");
    await expect(a).rejects.toBe(state.turnFailure);
    await expect(b).rejects.toBe(state.turnFailure);
    expect(broken).toEqual([state.turnFailure]);
  });

  it("is no company for a send that finds no other: that is answered without waiting for its sync", async () => {
    const { submitGated, submitPatient, syncs } = patient({ held: true, hasOutputGate: true });
    for (let i = 0; i < LONE_AFTER_TURNS; i++) {
      void submitPatient("settlement");
      const done = submitGated("send");
      syncs.at(-1)?.resolve();
      await done;
    }
    const before = syncs.length;
    void submitPatient("settlement");
    expect(await submitGated("send")).toBe("send is done");
    expect(syncs).toHaveLength(before);
  });
});
