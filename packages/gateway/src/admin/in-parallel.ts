/**
 * Most queues that a request for all of them asks at a time. In a new data folder each queue's object starts with its
 * first request, and asks the directory, all on one thread: with hundreds at once, their calls to the directory would
 * time out.
 */
export const LISTED_AT_ONCE = 8;

/** Calls a function for each item, for `atOnce` of them at the same time. @returns the results in order. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const runOneByOne = async () => {
    for (const [i, item] of waiting) results[i] = await run(item);
  };
  await Promise.all(Array.from({ length: atOnce }, runOneByOne));
  return results;
}
