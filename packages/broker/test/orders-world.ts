import { consumer } from "./messages.ts";
import { World } from "./world.ts";

export const MINUTE_MS = 60_000;

/** One message at a time, as soon as it is there. */
export const one = { maxBatchSize: 1, maxBatchTimeoutSeconds: 0, maxConcurrency: 1 };

export function worldWith(settings: Parameters<typeof consumer>[0] = {}): World {
  return new World({ orders: { consumer: consumer(settings) } });
}
