import { join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";
import { id, openWorld, UNIQUE_KEY, type World, type WorldInput } from "./world.ts";

export const START_MS = Date.UTC(2026, 0, 1);

/** Has the tests of a file run on a clock that stands still, from `START_MS` on. */
export function useClock(): void {
  beforeEach(() => {
    // What commits does so in a real turn of the event loop: the same one, however long a busy machine makes it.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"], now: START_MS });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Rings that were heard, by when, in ms since the start. */
export function hearing(input: WorldInput = {}): World & { readonly rings: readonly number[] } {
  const rings: number[] = [];
  const world = openWorld({
    ...input,
    alarm: (ctx) => {
      rings.push(Date.now() - START_MS);
      return input.alarm?.(ctx);
    },
  });
  return { ...world, rings };
}

export const setAlarm = (world: World, name: string, inMs: number) =>
  world.run(name, ({ storage }) => storage.setAlarm(START_MS + inMs));
export const getAlarm = async (world: World, name: string) => {
  const at = await world.run(name, ({ storage }) => storage.getAlarm());
  return at === null ? null : at - START_MS;
};
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
/** Returns the time of an object's alarm in the index, in ms since the start; `null` for none. */
export const inIndex = (world: World, name: string) => {
  const at = world.index()[id(name)];
  return at === undefined ? null : at - START_MS;
};
export const metadata = (folder: string) => join(folder, UNIQUE_KEY, "metadata.sqlite");
