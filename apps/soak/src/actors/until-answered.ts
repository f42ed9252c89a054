import type { World } from "../history/world.ts";

/** Times that somebody tries again who gets no answer. */
const ATTEMPTS_MAX = 4;

/**
 * What is answered to an attempt or to one of those after it; `null` if there is no answer to any before whoever asks
 * has enough of it, which never happens to those who insist.
 */
export async function untilAnswered<Answer>(
  { loop, random }: World,
  insists: boolean,
  attempt: () => Promise<Answer>,
): Promise<Answer | null> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch {
      const goesOn = insists || (attempts < ATTEMPTS_MAX && random.chance(0.7));
      if (!goesOn) return null;
      await loop.sleep(random.pick([0, 100, 2_000]));
    }
  }
}
