import { describe, expect, it } from "vitest";
import { callFor, Invocation } from "./invocation.ts";

const CALLS = ["one", "two", "three"];

/** Makes a handler that makes calls one after the other, with a record of their order. */
function handlerOf(names: readonly string[]) {
  const happened: string[] = [];
  const handle = async () => {
    for (const name of names) {
      happened.push(String(await callFor(name, async () => `${name} made`)));
    }
    happened.push("done");
  };
  return { happened, handle };
}

describe("an invocation", () => {
  it("ends after a call, which has taken effect and never returns", async () => {
    const invocation = new Invocation({ kind: "endAfter", call: 2 });
    const { happened, handle } = handlerOf(CALLS);
    void invocation.run(handle);
    expect(await invocation.ended).toBe("the handler ended after its 2nd call, two");
    expect(happened).toEqual(["one made"]);
  });

  it("ends before a call, which is not made", async () => {
    const invocation = new Invocation({ kind: "endBefore", call: 3 });
    let isMade = false;
    void invocation.run(async () => {
      await callFor("one", async () => {});
      await callFor("two", async () => {});
      await callFor("three", async () => {
        isMade = true;
      });
    });
    expect(await invocation.ended).toBe("the handler ended before its 3rd call, three");
    expect(isMade).toBe(false);
  });

  it("goes on where it makes fewer calls, and other invocations always go on", async () => {
    const { happened, handle } = handlerOf(CALLS);
    await new Invocation({ kind: "endAfter", call: 4 }).run(handle);
    await handle();
    expect(happened.filter((each) => each === "done")).toHaveLength(2);
  });

  it("has ended when the parallel calls have taken effect too", async () => {
    const invocation = new Invocation({ kind: "endAfter", call: 2 });
    const slow = Promise.withResolvers<void>();
    const happened: string[] = [];
    void invocation.run(async () => {
      void callFor("slow", () => slow.promise.then(() => happened.push("slow")));
      await callFor("quick", async () => happened.push("quick"));
      happened.push("never");
    });
    const ended = invocation.ended.then(() => happened.push("ended"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(happened).toEqual(["quick"]);
    slow.resolve();
    await ended;
    expect(happened).toEqual(["quick", "slow", "ended"]);
  });

  it("ends after a failed call, without telling its handler", async () => {
    const invocation = new Invocation({ kind: "endAfter", call: 1 });
    const caught: unknown[] = [];
    void invocation.run(async () => {
      const failing = callFor("one", () => Promise.reject(new Error("failed"))) as Promise<unknown>;
      await failing.catch((error) => caught.push(error));
    });
    expect(await invocation.ended).toContain("its 1st call, one");
    expect(caught).toEqual([]);
  });

  it("counts no synchronous call, and none that a call makes in turn", async () => {
    const invocation = new Invocation({ kind: "endAfter", call: 2 });
    void invocation.run(async () => {
      expect(callFor("at once", () => 7)).toBe(7);
      await callFor("outer", async () => callFor("inner", async () => {}));
      await callFor("last", async () => {});
    });
    expect(await invocation.ended).toContain("2nd call, last");
  });

  it.each([
    [4, "4th"],
    [11, "11th"],
    [21, "21st"],
  ])("names call %i its %s call", async (call, nth) => {
    const invocation = new Invocation({ kind: "endBefore", call });
    void invocation.run(handlerOf(Array.from({ length: call }, String)).handle);
    expect(await invocation.ended).toContain(` ${nth} call,`);
  });

  it("returns promises with any method, none of which ever settles, once it has ended", async () => {
    const invocation = new Invocation({ kind: "endBefore", call: 1 });
    const stub = invocation.run(() => callFor("stub", async () => {})) as Promise<unknown> & {
      method(): { later(): Promise<unknown> };
    };
    const settled: unknown[] = [];
    for (const promise of [stub, stub.method().later(), stub.finally(() => settled.push("finally"))]) {
      promise.then(
        (value) => settled.push(value),
        (error) => settled.push(error),
      );
    }
    await invocation.ended;
    await new Promise((resolve) => setImmediate(resolve));
    expect(settled).toEqual([]);
  });
});
