import type { World } from "../world/world.ts";

/** Most attempts of a caller that does not insist. */
const ATTEMPTS_MAX = 4;

/**
 * Repeats an attempt until one is answered, and resolves to that answer; `null` if the caller gives up before, which
 * never happens to one that insists.
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
