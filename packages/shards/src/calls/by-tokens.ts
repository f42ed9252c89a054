import { tokenOfShard } from "@sluice/protocol";
import { MapChangedError, type Shards } from "./shards.ts";

/** Item of a request, with the token by which it names a message or a lease. */
export interface ByToken<Item> {
  readonly item: Item;
  /** The token as its shard made it. */
  readonly token: string;
}

/**
 * Acts on items that tokens of the queue name, each on the shard of its token. A token of a shard that does not exist
 * goes to shard 0 as it is, which refuses it.
 *
 * @param act acts on items of one shard, and resolves to one outcome for each.
 * @returns the outcomes, in the order of the items.
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
        // The shard may have been added since.
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
    // A shard whose answer is missing is not called again: it may have acted, and would find nothing to act on.
    const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    const failure = failures.find((error) => !(error instanceof MapChangedError)) ?? failures[0];
    if (failure !== undefined) throw failure;
  });
  return items.map((_, place) => outcomes.get(place) as Outcome); // one for each
}
