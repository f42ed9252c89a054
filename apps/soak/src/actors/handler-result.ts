import type { DeliveryResult } from "@sluice/protocol";
import type { World } from "../world/world.ts";

const ALL_WELL: DeliveryResult = {
  outcome: "ok",
  ackAll: false,
  retryBatch: { retry: false },
  explicitAcks: [],
  retryMessages: [],
};

/** Delays that a handler asks for, in seconds. */
const RETRY_DELAYS_SECONDS = [0, 0, 1, 5, 60, 3_600] as const;

/** Draws the result that a handler reports after it ran to its end. */
export function drawResult(
  world: World,
  behaviour: "ok" | "some" | "retryAll" | "throw",
  ids: readonly string[],
): DeliveryResult {
  const { random, faults } = world;
  switch (behaviour) {
    case "ok":
      return ALL_WELL;
    case "retryAll":
      faults["handler settled some"] += 1;
      return {
        ...ALL_WELL,
        retryBatch: random.chance(0.5)
          ? { retry: true }
          : { retry: true, delaySeconds: random.pick(RETRY_DELAYS_SECONDS) },
      };
    case "throw":
      faults["handler threw"] += 1;
      return { ...ALL_WELL, outcome: "exception", error: "Error: as drawn", ...drawSome(world, ids) };
    case "some":
      faults["handler settled some"] += 1;
      return { ...ALL_WELL, ackAll: random.chance(0.1), ...drawSome(world, ids) };
  }
}

/** Calls of `ack()` and `retry()` on single messages; some get none, and an id may be of no message at all. */
function drawSome(
  { random }: World,
  ids: readonly string[],
): Pick<DeliveryResult, "explicitAcks" | "retryMessages"> {
  const explicitAcks: string[] = [];
  const retryMessages: { msgId: string; delaySeconds?: number }[] = [];
  for (const msgId of ids) {
    const call = random.below(4);
    if (call === 0) explicitAcks.push(msgId);
    else if (call === 1) retryMessages.push({ msgId });
    else if (call === 2) retryMessages.push({ msgId, delaySeconds: random.pick(RETRY_DELAYS_SECONDS) });
  }
  if (random.chance(0.05)) explicitAcks.push("0".repeat(32));
  return { explicitAcks, retryMessages };
}
