import { setTimeout as sleep } from "node:timers/promises";

const LOOK_AGAIN_MS = 20;

/** Waits for something to come true. Answers whether it did within `ms`. */
export async function until(holds: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const endMs = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > endMs) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  return true;
}
