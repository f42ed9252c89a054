/**
 * Most queues that a list asks at a time. All of a new data folder begin when they are first asked, on one thread: of
 * hundreds at once none would hear from the directory in the time that it waits for it.
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
