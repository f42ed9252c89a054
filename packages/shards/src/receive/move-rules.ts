import type { CancelMoveReply, LookRequest, MoveTask, NewMove, StartMoveReply } from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { nameFor } from "../look/look-rule.ts";
import { sumOf } from "../merge/amounts.ts";
import { mergedMove } from "../merge/moves.ts";

/** Tasks that a queue lists. */
const LISTED_MAX = 10;

/**
 * Starts a task on all shards: each has its part of the rate and of the limit. Where one of them cannot start, those
 * that have begun are cancelled.
 */
export async function startMove(shards: Shards, move: NewMove): Promise<StartMoveReply> {
  const running = (await listMoves(shards)).some(({ status }) => status === "running");
  if (running) return { ok: false, reason: "active" };
  const started = new Map<number, MoveTask>();
  let isActive = false;
  try {
    // Parts stay the same by later maps: what shards have begun with counts. A shard that is added now has later
    // messages only.
    const parts = await shards.byLaterMaps(() => partsOf(shards, move));
    await shards.byLaterMaps(() =>
      shards.all(async (shard) => {
        const part = parts[shard] ?? null;
        if (part === null || started.has(shard)) return;
        const reply = await shards.call(shard, "startMove", part);
        if (reply.ok) started.set(shard, reply.task);
        else isActive = true;
      }),
    );
  } catch (error) {
    await cancelStarted(shards, move.taskId, started);
    throw error;
  }
  if (isActive) {
    await cancelStarted(shards, move.taskId, started);
    return { ok: false, reason: "active" };
  }
  const task = mergedMove([...started.values()]);
  if (task !== null) return { ok: true, task: { ...task, ratePerSecond: move.ratePerSecond } };
  // No shard has a message of the selection: shard 0 notes the task, and ends it at once.
  return shards.call(0, "startMove", move);
}

async function cancelStarted(
  shards: Shards,
  taskId: string,
  started: ReadonlyMap<number, MoveTask>,
): Promise<void> {
  await Promise.allSettled([...started.keys()].map((shard) => shards.call(shard, "cancelMove", taskId)));
}

/** Makes the part of each shard; `null` for one that has nothing to move. */
async function partsOf(shards: Shards, move: NewMove): Promise<(NewMove | null)[]> {
  const { selection, ratePerSecond } = move;
  const names = shards.kept.map((shard) => selection?.only?.flatMap((name) => nameFor(name, shard)));
  const isDivided = ratePerSecond !== null || selection?.limit !== undefined;
  const amounts = isDivided ? await amountsOf(shards, move, names) : null;
  const total = sumOf(amounts ?? [], (amount) => amount);
  return shards.kept.map((shard) => {
    const only = names[shard];
    const amount = amounts?.[shard];
    if (amount === 0 || only?.length === 0) return null;
    return {
      ...move,
      // By what there is to move, so that all parts end at about the same time.
      ratePerSecond:
        ratePerSecond === null || amount === undefined ? ratePerSecond : (ratePerSecond * amount) / total,
      ...(selection === undefined
        ? {}
        : {
            selection: {
              ...selection,
              ...(only === undefined ? {} : { only }),
              ...(selection.limit === undefined || amount === undefined ? {} : { limit: amount }),
            },
          }),
    };
  });
}

/** Counts what each shard has of the selection, one after the other up to the limit. */
async function amountsOf(
  shards: Shards,
  { selection, target, mayReach = [], fallback }: NewMove,
  names: readonly (readonly string[] | undefined)[],
): Promise<number[]> {
  const returning = target === null ? { returning: { mayReach, ...(fallback && { fallback }) } } : {};
  const found = await shards.all((shard) => {
    const request: LookRequest = {
      max: 0,
      countsAll: true,
      isWaiting: true,
      ...(selection?.filter && { filter: selection.filter }),
      ...(names[shard] && { only: names[shard] }),
      ...(mayReach.length > 0 && returning),
    };
    return shards.call(shard, "look", request);
  });
  const { limit } = selection ?? {};
  let left = limit ?? Number.POSITIVE_INFINITY;
  return found.map(({ matched, cursor }) => {
    // A look that has ended early has counted some of them only.
    const most = cursor === null ? matched : (limit ?? Math.max(1, matched));
    const part = Math.min(left, most);
    left -= part;
    return part;
  });
}

/** Cancels the parts of a task that still run. */
export async function cancelMove(shards: Shards, taskId: string): Promise<CancelMoveReply> {
  const replies = await shards.all((shard) => shards.call(shard, "cancelMove", taskId));
  if (!replies.some(({ ok }) => ok)) {
    const isKnown = replies.some((reply) => !reply.ok && reply.reason === "notActive");
    return { ok: false, reason: isKnown ? "notActive" : "unknown" };
  }
  const task = (await listMoves(shards)).find((one) => one.taskId === taskId);
  if (task !== undefined) return { ok: true, task };
  return replies.find(({ ok }) => ok) as CancelMoveReply;
}

/** Lists tasks, newest first: each is the sum of its parts. */
export async function listMoves(shards: Shards): Promise<readonly MoveTask[]> {
  const lists = await shards.all((shard) => shards.call(shard, "listMoves"));
  const parts = new Map<string, MoveTask[]>();
  for (const task of lists.flat()) parts.set(task.taskId, [...(parts.get(task.taskId) ?? []), task]);
  return [...parts.values()]
    .flatMap((tasks) => mergedMove(tasks) ?? [])
    .sort((a, b) => b.startedMs - a.startedMs)
    .slice(0, LISTED_MAX);
}
