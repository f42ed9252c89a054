import { isShard, type QueueAtRest, type QueueDescription } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { checksumOfText } from "../../store/checksum.ts";
import { CommitPositions } from "./commit-positions.ts";
import { AWAKE_MS, IdleSnapshots } from "./idle-snapshots.ts";

let sql: SqlStorage;
let nowMs: number;
let marks: CommitPositions;
let rests: IdleSnapshots;

/** The directory's next start. */
function restart(endsWithQueues = false): void {
  marks = new CommitPositions(sql);
  rests = new IdleSnapshots(marks, () => nowMs, isShard, endsWithQueues);
}

function rest(queue: string, ready: number): QueueAtRest {
  return { queueId: `id of ${queue}`, description: { queue, ready, nowMs: 500 } as QueueDescription };
}

function report(queue: string, commits: number, atRest: QueueAtRest | null): void {
  marks.raise(queue, { epoch: 1, commits, messages: 0 }, rests.reported(queue, atRest));
}

const names = () => rests.list().map(({ description }) => description.queue);

beforeEach(() => {
  sql = nodeSql();
  nowMs = 1_000_000;
  restart();
});

describe("idle queues", () => {
  it("are listed as they reported, by their own time, over a restart of the directory too", () => {
    report("orders", 1, rest("orders", 3));
    nowMs += 60_000;
    restart();
    expect(rests.list()).toEqual([
      { queueId: "id of orders", description: { queue: "orders", ready: 3, nowMs: 60_500 } },
    ]);
  });

  it("are asked anew after a restart that ends them too: one may have been killed before its report", () => {
    restart(true);
    for (const queue of ["orders", "mails"]) report(queue, 1, rest(queue, 3));
    expect(names().sort()).toEqual(["mails", "orders"]);
    restart(true);
    expect(names()).toEqual([]);
    expect(rests.started("orders")).toBe(false);
    report("orders", 2, rest("orders", 0));
    expect(names()).toEqual(["orders"]);
    expect(rests.started("orders")).toBe(true);
  });

  it("are no more when a later report says so, and stay so when an earlier one is late", () => {
    report("orders", 5, rest("orders", 3));
    report("orders", 4, null);
    expect(names()).toEqual(["orders"]);
    report("orders", 6, null);
    expect(names()).toEqual([]);
    report("orders", 5, rest("orders", 3));
    expect(names()).toEqual([]);
  });

  it(`are not listed for ${AWAKE_MS} ms after their start, unless they report before`, () => {
    for (const queue of ["orders", "mails"]) report(queue, 1, rest(queue, 0));
    expect([rests.started("orders"), rests.started("mails"), rests.started("new")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(names()).toEqual([]);
    report("mails", 2, rest("mails", 1));
    expect(names()).toEqual(["mails"]);
    nowMs += AWAKE_MS - 1;
    expect(names()).toEqual(["mails"]);
    nowMs += 1;
    expect(names().sort()).toEqual(["mails", "orders"]);
  });

  it("are not listed by the report of a shard, which keeps a part of its queue", () => {
    report("orders", 1, rest("orders", 3));
    report("orders#1", 1, rest("orders", 4));
    expect(rests.list().map(({ description }) => description.ready)).toEqual([3]);
    expect(rests.started("orders")).toBe(true);
    expect(names()).toEqual([]);
  });

  it("are not listed by a damaged row", () => {
    report("orders", 1, rest("orders", 3));
    sql.exec(`UPDATE marks SET rest = replace(rest, '"ready":3', '"ready":4')`);
    expect(names()).toEqual([]);
  });
});

it("marks of before there were rests are read, and get one", () => {
  sql.exec("DROP TABLE marks");
  sql.exec(`CREATE TABLE marks (
    queue TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL, commits INTEGER NOT NULL, messages INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) WITHOUT ROWID`);
  const mark = { epoch: 1, commits: 2, messages: 3 };
  sql.exec("INSERT INTO marks VALUES ('orders', 1, 2, 3, ?)", checksumOfText("orders 1 2 3"));
  restart();
  expect(marks.read("orders")).toEqual(mark);
  report("orders", 3, rest("orders", 1));
  expect(names()).toEqual(["orders"]);
});
