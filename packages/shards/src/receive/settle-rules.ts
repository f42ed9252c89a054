import {
  type DeleteOutcome,
  type MadeDue,
  type PullRetry,
  type PullSettled,
  type PullSettlement,
  QueueError,
  type QueueWork,
  type RefsDeleted,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { byTokens } from "../calls/by-tokens.ts";
import type { Shards } from "../calls/shards.ts";

/** Acknowledges and releases what was pulled, each on the shard of its lease. */
export async function settleLeases(shards: Shards, { acks, retries }: PullSettlement): Promise<PullSettled> {
  type Item = { readonly leaseId: string; readonly retry: PullRetry | null };
  const items: Item[] = [
    ...acks.map((leaseId) => ({ leaseId, retry: null })),
    ...retries.map((retry) => ({ leaseId: retry.leaseId, retry })),
  ];
  const counts = { ackCount: 0, retryCount: 0 };
  const warnings = await byTokens(
    shards,
    items,
    ({ leaseId }) => leaseId,
    async (shard, asked) => {
      const settled = await shards.call(shard, "settleLeases", {
        acks: asked.filter(({ item }) => item.retry === null).map(({ token }) => token),
        retries: asked.flatMap(({ item, token }) =>
          item.retry === null ? [] : [{ ...item.retry, leaseId: token }],
        ),
      });
      counts.ackCount += settled.ackCount;
      counts.retryCount += settled.retryCount;
      return warningsOf(asked, settled.warnings);
    },
  );
  return { ...counts, warnings: byToken(items, ({ leaseId }) => leaseId, warnings) };
}

export async function deleteByRefs(shards: Shards, refs: readonly string[]): Promise<RefsDeleted> {
  let deleted = 0;
  const warnings = await byTokens(
    shards,
    refs,
    (ref) => ref,
    async (shard, asked) => {
      const done = await shards.call(
        shard,
        "deleteByRefs",
        asked.map(({ token }) => token),
      );
      deleted += done.deleted;
      return warningsOf(asked, done.warnings);
    },
  );
  return { deleted, warnings: byToken(refs, (ref) => ref, warnings) };
}

export function makeDue(shards: Shards, refs: readonly string[]): Promise<readonly MadeDue[]> {
  const tokens = (asked: readonly { readonly token: string }[]) => asked.map(({ token }) => token);
  return byTokens(
    shards,
    refs,
    (ref) => ref,
    (shard, asked) => shards.call(shard, "makeDue", tokens(asked)),
  );
}

export async function release(shards: Shards, receipts: readonly string[]): Promise<number> {
  let released = 0;
  await byTokens(
    shards,
    receipts,
    (receipt) => receipt,
    async (shard, asked) => {
      const tokens = asked.map(({ token }) => token);
      const count = await shards.call(shard, "release", tokens);
      released += count;
      return asked;
    },
  );
  return released;
}

/**
 * Deletes messages and changes how long they are invisible, by their receipts. A failure of one shard is one of all.
 */
export async function settleReceipts(
  shards: Shards,
  { remove = [], change = [] }: QueueWork,
): Promise<{ readonly removed: DeleteOutcome[]; readonly changed: VisibilityOutcome[] }> {
  type Item = { readonly receipt: string; readonly change: VisibilityChange | null };
  const items: Item[] = [
    ...remove.map((receipt) => ({ receipt, change: null })),
    ...change.map((one) => ({ receipt: one.receipt, change: one })),
  ];
  const outcomes = await byTokens(
    shards,
    items,
    ({ receipt }) => receipt,
    async (shard, asked): Promise<(DeleteOutcome | VisibilityOutcome)[]> => {
      const removing = asked.filter(({ item }) => item.change === null).map(({ token }) => token);
      const changing = asked.flatMap(({ item, token }) =>
        item.change === null ? [] : [{ ...item.change, receipt: token }],
      );
      const done = await shards.call(shard, "work", {
        ...(removing.length === 0 ? {} : { remove: removing }),
        ...(changing.length === 0 ? {} : { change: changing }),
      });
      if (!done.ok) throw new QueueError(done.code, done.cause);
      return [...(done.removed ?? []), ...(done.changed ?? [])];
    },
  );
  return {
    removed: outcomes.slice(0, remove.length) as DeleteOutcome[],
    changed: outcomes.slice(remove.length) as VisibilityOutcome[],
  };
}

/** Finds the warning of each item among those of a shard, which are in the order of the request; `null` for none. */
function warningsOf(
  asked: readonly { readonly token: string }[],
  warnings: readonly (readonly [token: string, text: string])[],
): (string | null)[] {
  let next = 0;
  return asked.map(({ token }) => {
    const [of, text = null] = warnings[next] ?? [];
    if (of !== token) return null;
    next += 1;
    return text;
  });
}

/** Lists the warnings with the tokens of their items. */
function byToken<Item>(
  items: readonly Item[],
  tokenOf: (item: Item) => string,
  warnings: readonly (string | null)[],
): (readonly [token: string, text: string])[] {
  return items.flatMap((item, i) => {
    const text = warnings[i] ?? null;
    return text === null ? [] : [[tokenOf(item), text] as const];
  });
}
