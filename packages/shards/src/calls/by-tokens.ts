import { tokenOfShard } from "@sluice/protocol";
import { MapChangedError, type Shards } from "./shards.ts";

/** Something that is done to what a token of the queue names. */
export interface ByToken<Item> {
  readonly item: Item;
  /** The token as its shard made it. */
  readonly token: string;
}

/**
 * Does something to what tokens name, on the shard of each, and returns the outcomes in the order of the items. A token
 * of a shard that there is not goes to shard 0 as it is, which knows how to refuse it.
 *
 * @param act does it on one shard. @returns one outcome for each item.
 */
export async function byTokens<Item, Outcome>(
  shards: Shards,
  items: readonly Item[],
  tokenOf: (item: Item) => string,
  act: (shard: number, items: readonly ByToken<Item>[]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const outcomes = new Map<number, Outcome>();
  await shards.byLaterMaps(async () => {
    const parts = new Map<number, { readonly place: number; readonly asked: ByToken<Item> }[]>();
    let isRefreshed = false;
    for (const [place, item] of items.entries()) {
      if (outcomes.has(place)) continue;
      const text = tokenOf(item);
      const { token, shard } = tokenOfShard(text);
      if (shard >= shards.map.kept && !isRefreshed) {
        // It may be one of a shard that was added.
        await shards.refresh();
        isRefreshed = true;
      }
      const isKnown = shard < shards.map.kept;
      const at = isKnown ? shard : 0;
      const part = parts.get(at) ?? [];
      parts.set(at, part);
      part.push({ place, asked: { item, token: isKnown ? token : text } });
    }
    const settled = await Promise.allSettled(
      [...parts].map(async ([shard, part]) => {
        const done = await act(
          shard,
          part.map(({ asked }) => asked),
        );
        if (done.length !== part.length) throw new Error(`shard ${shard} answered for too few tokens`);
        for (const [i, { place }] of part.entries()) outcomes.set(place, done[i] as Outcome); // one for each
      }),
    );
    // A shard whose answer is missing is not asked again: it may have done it, and would find nothing to do.
    const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    const failure = failures.find((error) => !(error instanceof MapChangedError)) ?? failures[0];
    if (failure !== undefined) throw failure;
  });
  return items.map((_, place) => outcomes.get(place) as Outcome); // one for each
}
