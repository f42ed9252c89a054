import {
  type LookRequest,
  type MoveTask,
  type NewMove,
  ShardMapError,
  type StartMoveReply,
} from "@sluice/protocol";
import { expect, it } from "vitest";
import { queueOf, type Stub } from "../../test/stub-shards.ts";

const MOVE: NewMove = { taskId: "t", target: "orders", ratePerSecond: null };

/** Shards that note what they are started with. */
class Moving {
  readonly started: (NewMove | undefined)[] = [];
  readonly cancelled: number[] = [];
  /** Messages of each that a look finds. */
  found: number[];
  refuses: number | null = null;
  /** Happens before shard 1 refuses a start by its first map. */
  changes: (() => void) | null = null;
  fails: number | null = null;

  constructor(...found: number[]) {
    this.found = found;
  }

  get queue() {
    return queueOf(
      ...this.found.map(
        (matched, shard): Stub => ({
          listMoves: () => [],
          look: (_: LookRequest) => ({
            messages: [],
            matched: this.found[shard] ?? 0,
            cursor: null,
            searched: 0,
            of: 0,
          }),
          startMove: (move: NewMove): StartMoveReply => {
            if (this.fails === shard) throw new Error("away");
            const { changes } = this;
            if (shard === 1 && changes !== null) {
              this.changes = null;
              changes();
              throw new ShardMapError("orders", { epoch: 2, open: 2, kept: 3 });
            }
            if (this.refuses === shard) return { ok: false, reason: "active" };
            this.started[shard] = move;
            return { ok: true, task: taskOf(move, matched) };
          },
          cancelMove: () => {
            this.cancelled.push(shard);
            return { ok: false, reason: "unknown" };
          },
        }),
      ),
    );
  }
}

function taskOf(move: NewMove, toMove: number): MoveTask {
  return { ...move, status: "running", startedMs: 1, moved: 0, toMove, failure: null };
}

it("a task runs on all shards as one", async () => {
  const moving = new Moving(3, 4);
  expect(await moving.queue.startMove("orders", MOVE)).toEqual({ ok: true, task: taskOf(MOVE, 7) });
  expect(moving.started).toEqual([MOVE, MOVE]);
});

it.each([
  [2, [1, 1], [1, 1]],
  [1, [1, 1], [0.5, 0.5]],
  [5, [3, 1], [3.75, 1.25]],
  [10, [0, 7, 0], [undefined, 10, undefined]],
])("a rate of %i is divided by what the shards have: %j", async (ratePerSecond, found, rates) => {
  const moving = new Moving(...found);
  const reply = await moving.queue.startMove("orders", { ...MOVE, ratePerSecond });
  expect(found.map((_, shard) => moving.started[shard]?.ratePerSecond)).toEqual(rates);
  expect(reply).toMatchObject({ task: { ratePerSecond } });
});

it("a rate of a task with a limit is divided by what each shard moves of it", async () => {
  const moving = new Moving(3, 0, 9);
  await moving.queue.startMove("orders", { ...MOVE, ratePerSecond: 10, selection: { limit: 5 } });
  expect(moving.started.map((move) => move?.ratePerSecond)).toEqual([6, undefined, 4]);
});

it("a rate with nothing to move is a task that shard 0 ends", async () => {
  const moving = new Moving(0, 0);
  const move = { ...MOVE, ratePerSecond: 10 };
  expect(await moving.queue.startMove("orders", move)).toMatchObject({ ok: true });
  expect(moving.started).toEqual([move]);
});

it("a limit goes to the shards by what they have of the selection", async () => {
  const moving = new Moving(3, 0, 9);
  await moving.queue.startMove("orders", { ...MOVE, selection: { limit: 5 } });
  expect(moving.started.map((move) => move?.selection?.limit)).toEqual([3, undefined, 2]);
});

it("a limit and a rate hold though the shards change after one has begun", async () => {
  const moving = new Moving(3, 9, 0);
  moving.changes = () => {
    moving.found = [0, 9, 4];
  };
  await moving.queue.startMove("orders", { ...MOVE, ratePerSecond: 10, selection: { limit: 5 } });
  expect(moving.started.map((move) => move?.selection?.limit)).toEqual([3, 2]);
  expect(moving.started.map((move) => move?.ratePerSecond)).toEqual([6, 4]);
});

it("messages are named on their shards: by refs on one, by ids on all", async () => {
  const moving = new Moving(1, 1, 1);
  const [ref, id] = ["R".repeat(34), "ab".repeat(16)];
  await moving.queue.startMove("orders", { ...MOVE, selection: { only: [`${ref}-2`, ref] } });
  expect(moving.started.map((move) => move?.selection?.only)).toEqual([[ref], undefined, [ref]]);
  await moving.queue.startMove("orders", { ...MOVE, selection: { only: [id] } });
  expect(moving.started.map((move) => move?.selection?.only)).toEqual([[id], [id], [id]]);
});

it("a selection of nothing is a task that shard 0 ends", async () => {
  const moving = new Moving(0, 0);
  expect(await moving.queue.startMove("orders", { ...MOVE, selection: { limit: 5 } })).toMatchObject({
    ok: true,
  });
  expect(moving.started).toHaveLength(1);
});

it("a task that one shard cannot start is cancelled on the others", async () => {
  const refused = new Moving(1, 1);
  refused.refuses = 1;
  expect(await refused.queue.startMove("orders", MOVE)).toEqual({ ok: false, reason: "active" });
  expect(refused.cancelled).toEqual([0]);
  const failed = new Moving(1, 1);
  failed.fails = 0;
  await expect(failed.queue.startMove("orders", MOVE)).rejects.toThrow("away");
  expect(failed.cancelled).toEqual([1]);
});

it("tasks are listed newest first, ten at most, each as the sum of its parts", async () => {
  const tasks = (shard: number) =>
    Array.from({ length: 12 }, (_, i) => ({
      ...taskOf({ ...MOVE, taskId: `t${i}` }, 1),
      startedMs: i + shard,
      status: shard === 1 && i === 11 ? "running" : "completed",
    }));
  const queue = queueOf({ listMoves: () => tasks(0) }, { listMoves: () => tasks(1) });
  const listed = await queue.listMoves("orders");
  expect(listed.map(({ taskId }) => taskId)).toEqual(Array.from({ length: 10 }, (_, i) => `t${11 - i}`));
  expect(listed[0]).toMatchObject({ status: "running", toMove: 2, startedMs: 11 });
});

it.each([
  [["notActive", "unknown"], "notActive"],
  [["unknown", "unknown"], "unknown"],
])("a task that is %j on its shards cannot be cancelled: %s", async (reasons, reason) => {
  const queue = queueOf(...reasons.map((one) => ({ cancelMove: () => ({ ok: false, reason: one }) })));
  expect(await queue.cancelMove("orders", "t")).toEqual({ ok: false, reason });
});

it("a task that still runs on one shard is cancelled", async () => {
  const task = taskOf(MOVE, 3);
  const done = { ...task, status: "completed" };
  const cancelled = { ...task, status: "cancelled" };
  const queue = queueOf(
    { cancelMove: () => ({ ok: false, reason: "notActive" }), listMoves: () => [done] },
    { cancelMove: () => ({ ok: true, task: cancelled }), listMoves: () => [cancelled] },
  );
  expect(await queue.cancelMove("orders", "t")).toMatchObject({
    ok: true,
    task: { status: "cancelled", toMove: 6 },
  });
});
