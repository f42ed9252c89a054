import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { CONTRACT, plan, sql, withoutCounts } from "./contract.ts";
import { type NodePlatform, type Platform, startNode, startWorkerd } from "./platforms.ts";
import type { Step } from "./subject.ts";

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

describe("on workerd and in a process of Node.js alike", () => {
  it.each(CONTRACT)("$name", async ({ run, answer }) => {
    const answered = await both(({ call }) => run(call));
    if (answer !== undefined) expect(answered).toEqual(answer);
  });

  it("objects have the same ids", async () => {
    expect(await both(({ call }) => call("a", "objectId"))).toMatch(/^[0-9a-f]{64}$/);
  });

  it("rows written to indexes count on workerd only", async () => {
    const steps = [
      sql("CREATE TABLE t (id INTEGER PRIMARY KEY, v)"),
      sql("CREATE INDEX i ON t (v)"),
      sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')"),
    ];
    const counts = async (platform: Platform) =>
      ((await run(platform, "indexed", ...steps)) as { written: number }[]).map(({ written }) => written);
    expect(await counts(workerd)).toEqual([2, 1, 4]);
    expect(await counts(node)).toEqual([0, 0, 2]);
  });

  it("an alarm that fails rings again", async () => {
    await both((platform) =>
      run(platform, "again", plan({ fail: "not now" }), plan({ getAlarm: true }), { setAlarmInMs: 10 }).then(
        withoutCounts,
      ),
    );
    await both(({ call }) => call("again", "rung", 1));
    expect(await both((platform) => run(platform, "again", { getAlarm: true }))).toEqual([0]);
    await both(({ call }) => call("again", "rung", 2));
    expect(await both((platform) => run(platform, "again", { getAlarm: true }))).toEqual([null]);
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
