import type { FakeQueue } from "./fake-queue.ts";

/** Random numbers, 0 to below 1, of a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How often something happens before a call, 0 to 1. */
export interface Chances {
  /** The number of shards changes. */
  readonly change: number;
  /** A shard is told the map, a drained one is removed, or a move of groups ends. */
  readonly step: number;
  /** The object does not answer: it was not called, or its answer is lost. */
  readonly failure: number;
}

/** Most shards that a queue gets. */
const OPEN_MAX = 6;

/** Lets the map of a queue change, and its shards fail, between any two calls. */
export function makeChaos(world: FakeQueue, random: () => number, chances: Chances): void {
  const shard = () => Math.floor(random() * world.map.kept);
  // The directory changes a map only when every shard knows the last one, and groups have moved.
  const isSettled = () =>
    world.map.before === undefined &&
    world.shards.every(({ map }) => map === null || map.epoch === world.map.epoch);
  world.beforeCall = () => {
    if (random() < chances.change && isSettled()) world.open(1 + Math.floor(random() * OPEN_MAX));
    if (random() < chances.step) world.tell(shard());
    if (random() < chances.step) world.removeDrained();
    if (random() < chances.step) world.endMove();
    if (random() < chances.failure / 2) throw new Error("the object does not answer");
  };
  world.isLost = () => random() < chances.failure / 2;
}
