import { utf8 } from "./utf8.ts";

/**
 * How a delay is spread, so that messages which failed together do not come back together (spec sns-delivery 5).
 *
 * - `none`: the delay itself.
 * - `equal`: between half of it and all of it.
 * - `full`: between nothing and all of it.
 *
 * None makes a delay longer, so the maximum of a policy stays one.
 */
export type Jitter = "none" | "equal" | "full";

export const JITTERS: readonly Jitter[] = ["none", "equal", "full"];

/**
 * A delay after jitter, in whole ms.
 *
 * @param random in [0, 1).
 */
export function jittered(delayMs: number, jitter: Jitter, random: number): number {
  switch (jitter) {
    case "none":
      return delayMs;
    case "equal":
      return Math.round(delayMs / 2 + (random * delayMs) / 2);
    case "full":
      return Math.round(random * delayMs);
  }
}

/**
 * The random number of one retry of one message, in [0, 1): a hash, so it needs no memory and is the same after a
 * restart (spec sns-delivery 5).
 *
 * @param seed of the deployment, or a test's constant.
 * @param scope receiver of the deliveries: a subscription's ARN, a queue's name.
 * @param retry 1 for the first retry.
 */
export function jitterRandom(seed: string, scope: string, messageId: string, retry: number): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8(`${seed}\n${scope}\n${messageId}\n${retry}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return (hash >>> 0) / 2 ** 32;
}
