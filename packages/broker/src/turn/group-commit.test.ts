import { describe, expect, it } from "vitest";
import { observed, settled } from "../../test/group-commit-world.ts";

describe("group commit", () => {
  it("runs work at once when no commit is in flight: no work lingers", () => {
    const { submit, turns } = observed({ held: true });
    void submit("a");
    expect(turns).toEqual([["a"]]);
  });

  it("reports that a turn is durable before its jobs resolve", async () => {
    const { submit, durableTurns } = observed();
    const seen = await Promise.all(["a", "b"].map((name) => submit(name).then(() => durableTurns())));
    expect(seen).toEqual([1, 2]);
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
