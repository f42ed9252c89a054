/**
 * Longest that commits are made one after the other before the event loop goes on, in ms. What an object does when its commit is
 * made may be the next write, and neither promises nor `process.nextTick` let timers and sockets have their turn in between.
 */
export const TURN_MS_MAX = 10;

let beganMs: number | null = null;

/** Whether commits were made for that long in this round of the event loop. */
export function isLongTurn(): boolean {
  const nowMs = performance.now();
  if (beganMs === null) {
    beganMs = nowMs;
    setImmediate(() => {
      beganMs = null;
    });
    return false;
  }
  return nowMs - beganMs > TURN_MS_MAX;
}
