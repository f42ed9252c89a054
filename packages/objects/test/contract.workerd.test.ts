import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type NodePlatform, type Platform, startNode, startWorkerd } from "./platforms.ts";
import type { Step, Value } from "./subject.ts";

const folders: string[] = [];
let workerd: Platform;
let node: NodePlatform;

beforeAll(async () => {
  workerd = await startWorkerd(await folder());
  node = await startNode(await folder());
});

afterAll(async () => {
  await Promise.all([workerd.kill(), node.kill()]);
  for (const made of folders) await rm(made, { recursive: true, force: true });
});

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "sluice-contract-"));
  folders.push(made);
  return made;
}

const sql = (text: string, ...bindings: readonly Value[]): Step => ({ sql: text, bindings });
/** Makes the step that plans the next call of the alarm handler. */
const plan = (...steps: readonly Step[]) =>
  sql("INSERT INTO plans (steps) VALUES (?)", JSON.stringify(steps));
const run = ({ call }: Platform, name: string, ...steps: readonly Step[]) => call(name, "run", steps);

/** Does the same work on both platforms, and returns their answer, which is to be the same. */
async function both(work: (platform: Platform) => Promise<unknown>): Promise<unknown> {
  const [theirs, ours] = await Promise.all(
    [workerd, node].map((platform) =>
      work(platform).catch((error: Error) => `${error.name}: ${error.message}`),
    ),
  );
  expect(ours).toEqual(theirs);
  return ours;
}

/** Without the count of rows written, which is not the same where there are indexes. */
function withoutCounts(answers: unknown): unknown {
  return JSON.parse(JSON.stringify(answers, (key, value) => (key === "written" ? undefined : value)));
}

describe("on workerd and in a process of Node.js alike", () => {
  it("objects have the same ids and names, are given the same, and refuse the same calls", async () => {
    await both(({ call }) => call("a", "who"));
    expect(await both(({ call }) => call("a", "echo", { a: [1, -0.5, null, "ä"], b: { c: true } }))).toBe(
      "{a: [number 1, number -0.5, object null, string ä], b: {c: boolean true}}",
    );
    expect(await both(({ call }) => call("a", "nothing"))).toContain("does not implement the method");
    expect(await both(({ call }) => call("a", "instance"))).toContain("DataCloneError");
  });

  it("values of SQL are the same, and so are the words of failures", async () => {
    const answers = await both(async (platform) =>
      withoutCounts(
        await run(
          platform,
          "sql",
          sql(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v, n INTEGER UNIQUE, c TEXT NOT NULL CHECK (length(c) < 3))",
          ),
          sql("INSERT INTO t VALUES (1, ?, 5, 'a')", { bytes: [0, 255] }),
          sql("INSERT INTO t (v, n, c) VALUES (?, ?, ?), ('b', 3, '') RETURNING *", 1.5, 2 ** 53, "b"),
          sql("SELECT 9007199254740993 AS big, -9223372036854775808 AS least, 1e300 AS large, NULL AS none"),
          sql("SELECT x'' AS empty, '' AS text, ? AS n, typeof(?) AS typed, ? AS bytes", 7, 7, { bytes: [] }),
          sql("WITH c AS (SELECT 4 AS n) INSERT INTO t (n, c) SELECT n, 'w' FROM c RETURNING n, v"),
          sql("SELECT * FROM t ORDER BY n -- and no more; really"),
          sql("INSERT INTO t VALUES (1, 1, 1, 'a')"),
          sql("INSERT INTO t VALUES (9, 1, 5, 'a')"),
          sql("INSERT INTO t VALUES (9, 1, 9, NULL)"),
          sql("INSERT INTO t VALUES (9, 1, 9, 'long')"),
          sql("INSERT INTO t VALUES (9)"),
          sql("SELECT * FROM nowhere"),
          sql("SELECT ?"),
          sql("SELECT 1", 2),
          sql("PRAGMA page_size"),
          sql("PRAGMA quick_check(5)"),
          sql("DELETE FROM t WHERE n < 5 RETURNING n"),
          sql("SELECT count(*) AS n FROM t"),
        ),
      ),
    );
    expect(JSON.stringify(answers)).toContain("extended: SQLITE_CONSTRAINT_UNIQUE");
  });

  it("rows written to tables count the same; those written to indexes count on workerd only", async () => {
    const name = "counts";
    await both((platform) =>
      run(
        platform,
        name,
        sql("INSERT INTO plans (steps) VALUES ('a'), ('b'), ('c')"),
        sql("UPDATE plans SET steps = 'd'"),
        sql("INSERT OR REPLACE INTO plans VALUES (1, 'e')"),
        sql("UPDATE plans SET steps = 'f' WHERE id = 99"),
        sql("DELETE FROM plans"),
        sql("SELECT 1"),
      ),
    );
    const steps = [
      sql("CREATE TABLE t (id INTEGER PRIMARY KEY, v)"),
      sql("CREATE INDEX i ON t (v)"),
      sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')"),
    ];
    const counts = async (platform: Platform) =>
      ((await run(platform, name, ...steps)) as { written: number }[]).map(({ written }) => written);
    expect(await counts(workerd)).toEqual([2, 1, 4]);
    expect(await counts(node)).toEqual([0, 0, 2]);
  });

  it("a transaction that throws keeps nothing, nor of alarms, and a call that throws keeps what it wrote", async () => {
    const insert = (value: number) => sql("INSERT INTO t VALUES (?)", value);
    const all = sql("SELECT v FROM t ORDER BY v");
    await both((platform) =>
      run(
        platform,
        "tx",
        sql("CREATE TABLE t (v)"),
        { transaction: [insert(1), { transaction: [insert(2)], fails: true }, { transaction: [insert(3)] }] },
        { transaction: [insert(4), { setAlarmInMs: 60_000 }], fails: true },
        { getAlarm: true },
        all,
        { setAlarmInMs: 60_000 },
        { transaction: [{ deleteAlarm: true }], fails: true },
        { getAlarm: true },
        { deleteAlarm: true },
      ).then(withoutCounts),
    );
    expect(await both((platform) => run(platform, "tx", insert(5), { fail: "no" }))).toBe("RangeError: no");
    await both((platform) => run(platform, "tx", all));
  });

  it("an abort fails what is under way with its reason, and begins another life on what was committed", async () => {
    const insert = (value: number) => sql("INSERT INTO plans (steps) VALUES (?)", value);
    await both((platform) => run(platform, "abort", insert(1)));
    const answers = await both(async (platform) => {
      const waiting = platform.call("abort", "rung", 1).catch((error: Error) => error.message);
      const aborting = run(platform, "abort", insert(2), { abort: "a reason" });
      return [await aborting.catch((error: Error) => error.message), await waiting];
    });
    expect(answers).toEqual(["a reason", "a reason"]);
    await both((platform) => run(platform, "abort", sql("SELECT steps FROM plans")));
    expect(await both(({ call }) => call("abort", "runs"))).toBe(1);
  });

  it("an alarm is there until it rings, not in its handler, there for another try, and gone at the end", async () => {
    await both((platform) =>
      run(
        platform,
        "alarm",
        { getAlarm: true },
        { setAlarmInMs: 100_000 },
        { getAlarm: true },
        { setAlarmInMs: -100_000 },
        { getAlarm: true },
        { deleteAlarm: true },
        { getAlarm: true },
        plan(
          { getAlarm: true },
          { setAlarmInMs: 100_000 },
          { getAlarm: true },
          { deleteAlarm: true },
          { getAlarm: true },
          { setAlarmInMs: 20 },
        ),
        plan({ getAlarm: true }),
        plan({ fail: "not now" }),
        plan({ getAlarm: true }),
        { setAlarmInMs: 10 },
      ).then(withoutCounts),
    );
    expect(await both(({ call }) => call("alarm", "rung", 2))).toEqual([
      [null, "set", 100_000, "deleted", null, "set"],
      [null],
    ]);
    await both((platform) => run(platform, "alarm", { getAlarm: true }, { setAlarmInMs: 10 }));
    await both(({ call }) => call("alarm", "rung", 3));
    expect(await both((platform) => run(platform, "alarm", { getAlarm: true }))).toEqual([0]);
    await both(({ call }) => call("alarm", "rung", 4));
    expect(await both((platform) => run(platform, "alarm", { getAlarm: true }))).toEqual([null]);
  });
});

describe("a folder of objects", () => {
  const steps = [
    sql("CREATE TABLE t (v)"),
    sql("INSERT INTO t VALUES (?), (2)", { bytes: [1, 2] }),
    plan({ getAlarm: true }),
    { setAlarmInMs: 500 },
  ];
  const left = [{ rows: [{ v: "ArrayBuffer 1 2" }, { v: "number 2" }] }, { rows: [{ n: "number 0" }] }];
  const look = [sql("SELECT v FROM t"), sql("SELECT count(*) AS n FROM plans")];

  async function goesOn(next: Platform): Promise<void> {
    onTestFinished(() => next.kill());
    // Nobody calls it: it is started by its alarm.
    await next.printed("kept rang");
    expect(await next.call("kept", "rung", 1)).toEqual([[null]]);
    expect(withoutCounts(await run(next, "kept", ...look))).toEqual(left);
    expect(await run(next, "kept", { getAlarm: true })).toEqual([null]);
  }

  it("that workerd has written, which was killed, is gone on with here, and its alarm rings", async () => {
    const kept = await folder();
    const before = await startWorkerd(kept);
    await run(before, "kept", ...steps);
    await before.kill();
    await goesOn(await startNode(kept));
  });

  it("that was written here goes on on workerd, whether it was closed or killed, and its alarm rings", async () => {
    for (const end of ["close", "kill"] as const) {
      const kept = await folder();
      const before = await startNode(kept);
      await run(before, "kept", ...steps);
      await before[end]();
      await goesOn(await startWorkerd(kept));
    }
  });
});
