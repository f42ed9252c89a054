import type { World } from "../history/world.ts";

/** Between two polls of a client once everybody behaves, in ms. */
const CALM_POLL_MS = 20_000;

/**
 * Has a client ask for messages now, and again and again until everything has drained.
 *
 * @param everyMs Mean time between two polls while there is trouble.
 */
export function keepPolling(world: World, everyMs: number, poll: () => void): void {
  const { loop, random, isTroubled, isDrained } = world;
  if (isDrained) return;
  poll();
  const waitMs = isTroubled ? random.below(2 * everyMs) : CALM_POLL_MS;
  loop.after(waitMs, () => keepPolling(world, everyMs, poll));
}
