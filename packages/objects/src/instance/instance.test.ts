import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { type Env, openWorld, temporaryFolder, UNIQUE_KEY } from "../../test/world.ts";
import { InstanceEndedError } from "../instance-ended.ts";
import type { ObjectState } from "./instance.ts";

const CREATE = "CREATE TABLE IF NOT EXISTS t (v)";
const ALL = "SELECT v FROM t ORDER BY rowid";

describe("a call", () => {
  it("has a copy of what it is given, as it was at the call, and the caller one of what is answered", async () => {
    const { objects, job } = openWorld();
    const kept: unknown[] = [];
    const bytes = new Uint8Array([1]);
    const state = { inside: [1] };
    const keep = job((_ctx, _env, theirs) => {
      kept.push(theirs);
      return state;
    });
    const answered = (objects.env.PROBES as Env["PROBES"]).getByName("a").run(keep, bytes);
    bytes[0] = 9;
    const answer = (await answered) as typeof state;
    expect(kept).toEqual([new Uint8Array([1])]);
    answer.inside.push(2);
    expect(state).toEqual({ inside: [1] });
  });

  it("fails for a method that there is not, with what the method throws, and for what cannot be answered", async () => {
    const { run, objects } = openWorld();
    const probes = objects.env.PROBES as { getByName(name: string): Record<string, () => Promise<unknown>> };
    for (const method of ["nothing", "constructor", "toString"]) {
      await expect(probes.getByName("a")[method]?.()).rejects.toThrow(
        `The RPC receiver does not implement the method "${method}".`,
      );
    }
    await expect(run("a", () => Promise.reject(new RangeError("so")))).rejects.toThrow(RangeError);
    await expect(run("a", () => () => 1)).rejects.toThrow(
      expect.objectContaining({ name: "DataCloneError" }),
    );
  });

  it("knows what the object is called, and every way to its stub leads to it", async () => {
    const { run, objects } = openWorld();
    expect(await run("a", ({ id }) => [id.name, id.toString()])).toEqual([
      "a",
      (objects.env.PROBES as { idFromName(name: string): object }).idFromName("a").toString(),
    ]);
  });
});

describe("calls between objects", () => {
  it("are made only after the caller's commit, in their order, and never if that fails", async () => {
    const { run, job, committed } = openWorld();
    await run("a", ({ storage }) => void storage.sql.exec(CREATE));
    const seen: unknown[] = [];
    const look = job((_ctx, _env, number) => void seen.push([number, committed("a", ALL).length]));
    await run("a", async ({ storage }, env) => {
      const other = env.PROBES.getByName("b");
      storage.sql.exec("INSERT INTO t VALUES (1)");
      const first = other.run(look, 1);
      storage.sql.exec("INSERT INTO t VALUES (2)");
      await Promise.all([first, other.run(look, 2)]);
      await other.run(look, 3);
    });
    expect(seen).toEqual([
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
    const failed = run("a", async (ctx, env) => {
      ctx.storage.sql.exec("INSERT INTO t VALUES (3)");
      void env.PROBES.getByName("b").run(look, 4);
      ctx.abort("no");
    });
    await expect(failed).rejects.toThrow("no");
    await run("b", () => 1);
    expect(seen).toHaveLength(3);
  });

  it("can go in a circle", async () => {
    const { run, job } = openWorld();
    const back: number = job((_ctx, env, depth) =>
      Number(depth) === 0
        ? "bottom"
        : env.PROBES.getByName(Number(depth) % 2 === 0 ? "a" : "b").run(back, Number(depth) - 1),
    );
    expect(await run("a", (_ctx, env) => env.PROBES.getByName("b").run(back, 10))).toBe("bottom");
  });
});

describe("abort", () => {
  it("leaves the code of the instance that has ended to itself: it changes nothing and hears nothing", async () => {
    const { run, job, committed, index } = openWorld();
    const called: string[] = [];
    const answer = job(() => void called.push("called"));
    let resume = () => {};
    const pause = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const heard: string[] = [];
    const tries: Record<string, unknown> = {};
    let over = Promise.resolve();
    const aborted = run("a", async (ctx, env) => {
      ctx.storage.sql.exec(CREATE);
      await ctx.storage.sync();
      const other = env.PROBES.getByName("b");
      const underWay = other.run(job(() => pause) as number).then(() => heard.push("answer"));
      ctx.abort("over");
      over = pause.then(() => {
        for (const [what, attempt] of Object.entries({
          write: () => ctx.storage.sql.exec("INSERT INTO t VALUES (1)"),
          read: () => ctx.storage.sql.exec(ALL).toArray(),
          transaction: () => ctx.storage.transactionSync(() => 1),
        })) {
          try {
            tries[what] = attempt();
          } catch (error) {
            tries[what] = error;
          }
        }
        for (const promise of [
          ctx.storage.setAlarm(Date.now() + 1_000),
          ctx.storage.getAlarm(),
          ctx.storage.sync(),
          other.run(answer),
        ]) {
          void Promise.resolve(promise).then(() => heard.push("promise"));
        }
      });
      await underWay;
    });
    await expect(aborted).rejects.toThrow("over");
    resume();
    await over;
    await run("b", () => 1);
    await run("a", () => 1);
    for (const thrown of Object.values(tries)) expect(thrown).toBeInstanceOf(InstanceEndedError);
    expect(Object.keys(tries)).toEqual(["write", "read", "transaction"]);
    expect(heard).toEqual([]);
    expect(called).toEqual([]);
    expect(committed("a", ALL)).toEqual([]);
    expect(index()).toEqual({});
  });

  it("in the constructor fails the call that began the instance", async () => {
    let isFirst = true;
    const { run, instances } = openWorld({
      construct: (ctx) => {
        if (isFirst) ctx.abort("not yet");
        isFirst = false;
      },
    });
    await expect(run("a", () => 1)).rejects.toThrow("not yet");
    expect(await run("a", () => 1)).toBe(1);
    expect(instances()).toBe(2);
  });
});

it("a constructor that throws fails the call, keeps nothing of what it wrote, and is called again by the next", async () => {
  let isFirst = true;
  const { run, committed } = openWorld({
    construct: ({ storage }) => {
      storage.sql.exec(CREATE);
      storage.sql.exec(`INSERT INTO t VALUES (${isFirst ? 1 : 2})`);
      if (!isFirst) return;
      isFirst = false;
      throw new Error("not now");
    },
  });
  await expect(run("a", () => 1)).rejects.toThrow("not now");
  expect(await run("a", () => 1)).toBe(1);
  expect(committed("a", ALL)).toEqual([{ v: 2 }]);
});

describe("blockConcurrencyWhile", () => {
  it("lets calls wait until it is done, and takes them in their order then", async () => {
    let open = () => {};
    const order: unknown[] = [];
    const { run } = openWorld({
      construct: (ctx) => {
        void ctx.blockConcurrencyWhile(async () => {
          await new Promise<void>((resolve) => {
            open = resolve;
          });
          order.push("opened");
        });
      },
    });
    const calls = [1, 2, 3].map((number) => run("a", () => void order.push(number)));
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    open();
    await Promise.all(calls);
    expect(order).toEqual(["opened", 1, 2, 3]);
  });

  it("can be called within itself, and gives what its work gives", async () => {
    const { run } = openWorld();
    const given = await run("a", (ctx) =>
      ctx.blockConcurrencyWhile(async () => [await ctx.blockConcurrencyWhile(async () => "inner"), "outer"]),
    );
    expect(given).toEqual(["inner", "outer"]);
    expect(await run("a", () => "open")).toBe("open");
  });

  it("ends the instance if it fails: what waits fails with that, and the next call begins another", async () => {
    let fails = true;
    const { run, instances } = openWorld({
      construct: (ctx) => {
        void ctx.blockConcurrencyWhile(async () => {
          await null;
          if (fails) throw new Error("cannot be read");
        });
      },
    });
    let ran = false;
    const calls = [1, 2].map(() =>
      run("a", () => {
        ran = true;
      }),
    );
    for (const call of calls) await expect(call).rejects.toThrow("cannot be read");
    expect(ran).toBe(false);
    fails = false;
    await run("a", () => 1);
    expect(instances()).toBe(2);
  });
});

it("close commits and answers what is written, fails what is under way, and leaves a file for each object", async () => {
  const { run, objects, folder, committed } = openWorld();
  await run("a", ({ storage }) => void storage.sql.exec(CREATE));
  const waiting = run("a", () => new Promise(() => {}));
  const writing = run("a", ({ storage }) => storage.sql.exec("INSERT INTO t VALUES (1)").rowsWritten);
  await Promise.resolve();
  objects.close();
  await expect(waiting).rejects.toThrow("the broker is stopping");
  expect(await writing).toBe(1);
  expect(readdirSync(join(folder, UNIQUE_KEY)).every((name) => name.endsWith(".sqlite"))).toBe(true);
  expect(committed("a", ALL)).toEqual([{ v: 1 }]);
  await expect(run("a", () => 1)).rejects.toThrow("the broker is stopping");
  objects.close();
});

describe("what nobody listens to", () => {
  it("never ends the process: not a rejection of an instance that has ended, and another one is said", () => {
    const program = join(import.meta.dirname, "../../test/unheard.ts");
    const printed = execFileSync(process.execPath, [program, temporaryFolder()], { encoding: "utf8" });
    expect(printed.split("\n")).toEqual([
      "a promise was rejected and nobody heard: Error: heeded by nobody",
      "still here",
      "",
    ]);
  });

  it("is not kept, however many calls there were", async () => {
    const { objects, job, run } = openWorld();
    const probe = (objects.env.PROBES as Env["PROBES"]).getByName("a");
    await run("a", ({ storage }) => void storage.sql.exec(CREATE));
    const read = job(({ storage }) => storage.sql.exec("SELECT count(*) AS n FROM t").one());
    // Most of them in an instance that has ended: it awaits what never comes.
    let old: ObjectState | undefined;
    await run("a", (ctx) => {
      old = ctx;
      ctx.abort("over");
    }).catch(() => undefined);
    const heapAfter = async (calls: number) => {
      for (let i = 0; i < calls; i++) {
        await probe.run(read, i);
        void old?.storage.sync().then(() => i);
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(2_000);
    const kept = (await heapAfter(40_000)) - before;
    expect(kept).toBeLessThan(1_000_000);
  });
});

/** Collects garbage, with Node.js's flag for it set for this once. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

describe("an object that holds nothing", () => {
  const immediate = () => new Promise((resolve) => setImmediate(resolve));

  it("is ended when nobody waits for it, and begins again with what it has stored", async () => {
    let holdsNothing = false;
    const { run, instances, objects } = openWorld({ holdsNothing: () => holdsNothing });
    await run("a", ({ storage }) => void storage.sql.exec(CREATE));
    await immediate();
    await run("a", ({ storage }) => void storage.sql.exec("INSERT INTO t VALUES (1)"));
    expect(instances()).toBe(1);
    holdsNothing = true;
    let answer = () => {};
    const waiting = run("a", () => new Promise<void>((resolve) => (answer = resolve)));
    await run("a", () => 1);
    await immediate();
    await run("a", () => 1);
    expect(instances()).toBe(1);
    answer();
    await waiting;
    await immediate();
    expect(await run("a", ({ storage }) => storage.sql.exec(ALL).toArray())).toEqual([{ v: 1 }]);
    expect(instances()).toBe(2);
    objects.close();
  });

  it("stays for who calls it before it is ended", async () => {
    const { run, instances } = openWorld({ holdsNothing: () => true });
    await run("a", () => 1);
    const [one, two] = [run("a", () => immediate()), run("a", () => 2)];
    await Promise.all([one, two]);
    expect(instances()).toBe(1);
  });
});
