import { beforeEach, describe, expect, it, vi } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { newId } from "../../platform/new-id.ts";
import { UNSET_DEFINITION } from "../queues.ts";
import type { DirectoryRow, QueueRow } from "../row.ts";
import { Deletions } from "./deletions.ts";
import { Purges } from "./purges.ts";
import { DirectoryRows } from "./rows.ts";
import { Subscriptions } from "./subscriptions.ts";

let sql: SqlStorage;

beforeEach(() => {
  sql = nodeSql();
});

function row(name: string): QueueRow {
  const record = {
    queueId: newId(),
    name,
    createdOnMs: 1,
    modifiedOnMs: 2,
    revision: 3,
    emptyAsOf: 0,
    definition: UNSET_DEFINITION,
    consumer: null,
    jurisdiction: null,
    dialects: {},
  };
  return { kind: "queue", record, configured: null, told: 0 };
}

describe("the directory's rows", () => {
  it("are there after a restart as they were saved last, without those that were erased", () => {
    const rows = new DirectoryRows(sql);
    const deleted: DirectoryRow = { kind: "deleted", name: "gone", revision: 9 };
    const kept = row("kept");
    for (const one of [row("kept"), kept, row("erased"), deleted]) rows.save(one);
    rows.delete("erased");
    expect([...new DirectoryRows(sql).all()]).toEqual([deleted, kept]);
  });

  it("are left out when they are damaged, and the log says so", () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const rows = new DirectoryRows(sql);
    rows.save(row("damaged"));
    rows.save(row("whole"));
    sql.exec(`UPDATE queues SET row = replace(row, '345600', '345601') WHERE name = 'damaged'`);
    expect([...rows.all()].map((one) => one.kind === "queue" && one.record.name)).toEqual(["whole"]);
    expect(log.mock.calls).toEqual([
      ['Directory: the stored row of queue "damaged" is damaged, and is left out'],
    ]);
    log.mockRestore();
  });

  it("remember which topology was applied last", () => {
    const rows = new DirectoryRows(sql);
    expect(rows.deployed).toBeNull();
    rows.deployed = "first";
    rows.deployed = "second";
    expect(new DirectoryRows(sql).deployed).toBe("second");
  });
});

it("deletions are remembered for 60 seconds, over restarts, each name by itself", () => {
  new Deletions(sql).note("first", 1_000);
  new Deletions(sql).note("second", 30_000);
  const deletions = new Deletions(sql);
  expect([deletions.last("first", 60_999), deletions.last("first", 61_000)]).toEqual([1_000, null]);
  expect([deletions.last("second", 61_000), deletions.last("other", 61_000)]).toEqual([30_000, null]);
  deletions.note("third", 61_000);
  expect(sql.exec("SELECT name FROM deletions ORDER BY name").toArray()).toEqual([
    { name: "second" },
    { name: "third" },
  ]);
});

describe("subscriptions", () => {
  const queueId = newId();
  const r2 = { name: "r2", enabled: true, source: { type: "r2" }, queueId, events: ["bucket.created"] };

  it("have the times of the directory's clock", () => {
    let nowMs = 1;
    const subscriptions = new Subscriptions(sql, () => nowMs);
    const created = subscriptions.create(r2);
    if (!created.ok) throw new Error(created.refusal.kind);
    expect(created.subscription).toMatchObject({ createdAtMs: 1, modifiedAtMs: 1 });
    nowMs = 2;
    const changed = subscriptions.change(created.subscription.id, { enabled: false });
    expect(changed).toMatchObject({ subscription: { createdAtMs: 1, modifiedAtMs: 2 } });
  });

  it("are one per source, whatever the order of what names it", () => {
    const subscriptions = new Subscriptions(sql, () => 1);
    const source = { type: "artifacts.repo", namespace: "n", repo_name: "r" };
    expect(subscriptions.create({ ...r2, source })).toMatchObject({ ok: true });
    const again = { repo_name: "r", namespace: "n", type: "artifacts.repo" };
    expect(subscriptions.create({ ...r2, source: again })).toEqual({
      ok: false,
      refusal: { kind: "sourceSubscribed" },
    });
    expect(subscriptions.create({ ...r2, source: { ...source, repo_name: "s" } })).toMatchObject({
      ok: true,
    });
  });

  it("go with their queue, and their source is free again", () => {
    const subscriptions = new Subscriptions(sql, () => 1);
    subscriptions.create(r2);
    subscriptions.create({ ...r2, source: { type: "kv" }, queueId: newId() });
    expect(subscriptions.deleteOf(queueId)).toMatchObject([{ source: { type: "r2" } }]);
    expect(subscriptions.list()).toMatchObject([{ source: { type: "kv" } }]);
    expect(subscriptions.create(r2)).toMatchObject({ ok: true });
  });

  it("are refused to be changed when they do not exist", () => {
    const refusal = { ok: false, refusal: { kind: "subscriptionNotFound" } };
    expect(new Subscriptions(sql, () => 1).change(newId(), { enabled: false })).toEqual(refusal);
    expect(new Subscriptions(sql, () => 1).delete(newId())).toEqual(refusal);
  });
});

it("remembers the latest purge of each queue, also one that has not ended", () => {
  const purges = new Purges(sql);
  const id = newId();
  expect(purges.last(id)).toBeNull();
  purges.note(id, { startedMs: 1, completedMs: null });
  expect(new Purges(sql).last(id)).toEqual({ startedMs: 1, completedMs: null });
  purges.note(id, { startedMs: 1, completedMs: 2 });
  expect(purges.last(id)).toEqual({ startedMs: 1, completedMs: 2 });
  purges.forget(id);
  expect(purges.last(id)).toBeNull();
});
