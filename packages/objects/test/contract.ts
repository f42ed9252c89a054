import type { Call } from "./platforms.ts";
import type { Step, Value } from "./subject.ts";

/** One thing that every host of objects does. */
export interface ContractCase {
  readonly name: string;
  /** Does it with objects of its own. What it answers, or throws, is the same on all hosts. */
  run(call: Call): Promise<unknown>;
  /** Part of the answer, for who reads it. */
  readonly answer?: unknown;
}

export const sql = (text: string, ...bindings: readonly Value[]): Step => ({ sql: text, bindings });
/** Makes the step that plans the next call of the alarm handler. */
export const plan = (...steps: readonly Step[]) =>
  sql("INSERT INTO plans (steps) VALUES (?)", JSON.stringify(steps));
const run = (call: Call, name: string, ...steps: readonly Step[]) => call(name, "run", steps);

/** Without the count of rows written, which is not the same where there are indexes. */
export function withoutCounts(answers: unknown): unknown {
  return JSON.parse(JSON.stringify(answers, (key, value) => (key === "written" ? undefined : value)));
}

const insert = (value: string) => sql("INSERT INTO plans (steps) VALUES (?)", value);
const plans = sql("SELECT steps FROM plans ORDER BY id");
/** The answer to `plans`. */
const rowsOf = (...values: readonly string[]) => ({ rows: values.map((steps) => ({ steps })), written: 0 });

/** Cases that every host passes: storage, alarm, timers, calls, and how an object ends. */
export const CONTRACT: readonly ContractCase[] = [
  {
    name: "an object knows its name, and is called when what its constructor waits for is done",
    run: (call) => call("a", "who"),
    answer: { name: "a", isReady: true, isOver: false },
  },
  {
    name: "what it is given is a copy",
    run: (call) => call("a", "echo", { a: [1, -0.5, null, "ä"], b: { c: true } }),
    answer: "{a: [number 1, number -0.5, object null, string ä], b: {c: boolean true}}",
  },
  { name: "a method that it does not have is refused", run: (call) => call("a", "nothing") },
  { name: "what cannot be copied is not answered", run: (call) => call("a", "instance") },
  {
    name: "values of SQL are the same, and so are the words of failures",
    run: async (call) =>
      withoutCounts(
        await run(
          call,
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
  },
  {
    name: "rows written to tables count",
    run: (call) =>
      run(
        call,
        "counts",
        sql("INSERT INTO plans (steps) VALUES ('a'), ('b'), ('c')"),
        sql("UPDATE plans SET steps = 'd'"),
        sql("INSERT OR REPLACE INTO plans VALUES (1, 'e')"),
        sql("UPDATE plans SET steps = 'f' WHERE id = 99"),
        sql("DELETE FROM plans"),
        sql("SELECT 1"),
      ),
  },
  {
    name: "a transaction that throws keeps nothing, nor of alarms",
    run: (call) =>
      run(
        call,
        "tx",
        {
          transaction: [
            insert("1"),
            { transaction: [insert("2")], fails: true },
            { transaction: [insert("3")] },
          ],
        },
        { transaction: [insert("4"), { setAlarmInMs: 60_000 }], fails: true },
        { getAlarm: true },
        plans,
        { setAlarmInMs: 60_000 },
        { transaction: [{ deleteAlarm: true }], fails: true },
        { getAlarm: true },
        { deleteAlarm: true },
      ).then(withoutCounts),
  },
  {
    name: "a call that throws keeps what it wrote",
    run: async (call) => {
      const thrown = run(call, "throws", insert("5"), { fail: "no" }).catch(String);
      return [await thrown, await run(call, "throws", plans)];
    },
    answer: ["RangeError: no", [rowsOf("string 5")]],
  },
  {
    name: "an abort fails what is under way with its reason, and the next call begins on what was durable",
    run: async (call) => {
      await run(call, "abort", insert("1"));
      const waiting = call("abort", "rung", 1).catch((error: Error) => error.message);
      const aborting = run(call, "abort", insert("2"), { abort: "a reason" });
      const reasons = [await aborting.catch((error: Error) => error.message), await waiting];
      return [reasons, await run(call, "abort", plans), await call("abort", "runs")];
    },
    answer: [["a reason", "a reason"], [rowsOf("string 1")], 1],
  },
  {
    name: "a call to another object is answered, and leaves when what was written before is durable",
    run: async (call) => {
      const answers = await run(call, "caller", insert("1"), { call: "called", steps: [insert("2"), plans] });
      // One that was not durable is lost with the call that would have told of it.
      const aborting = run(
        call,
        "caller",
        insert("3"),
        { callLater: "called", steps: [insert("4")] },
        { abort: "a reason" },
      );
      await aborting.catch(() => {});
      return [
        withoutCounts(answers),
        await run(call, "caller", plans),
        await run(call, "called", { waitMs: 50 }, plans),
      ];
    },
    answer: [expectedRows([[], [[], ["string 2"]]]), [rowsOf("string 1")], ["waited", rowsOf("string 2")]],
  },
  {
    name: "a timer calls back, unless it is cancelled or its object has ended",
    run: async (call) => {
      await run(call, "timer", { afterMs: 10, executes: "INSERT INTO plans (steps) VALUES ('rang')" });
      await run(call, "timer", {
        cancelledAfterMs: 10,
        executes: "INSERT INTO plans (steps) VALUES ('cancelled')",
      });
      await run(call, "timer", { waitMs: 100 });
      const before = await run(call, "timer", plans);
      const aborting = run(
        call,
        "timer",
        { afterMs: 10, executes: "INSERT INTO plans (steps) VALUES ('ended')" },
        { abort: "a reason" },
      );
      await aborting.catch(() => {});
      return [before, await run(call, "timer", { waitMs: 100 }, plans)];
    },
    answer: [[rowsOf("string rang")], ["waited", rowsOf("string rang")]],
  },
  {
    name: "an alarm is there until it rings, not in its handler, there for another try, and gone at the end",
    run: async (call) => {
      const set = await run(
        call,
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
        { setAlarmInMs: 10 },
      );
      return [
        withoutCounts(set),
        await call("alarm", "rung", 2),
        await run(call, "alarm", { getAlarm: true }),
      ];
    },
  },
];

/** Answers to steps that write nothing and give rows: their texts. */
function expectedRows([_, [inserted, found]]: [unknown, [unknown, readonly string[]]]) {
  return [{ rows: [] }, [{ rows: inserted }, { rows: found.map((steps) => ({ steps })) }]];
}
