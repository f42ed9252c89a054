import type { Host } from "../platform/host.ts";
import { traceOf } from "../platform/log.ts";
import { HEARTBEAT_MS } from "../turn/heartbeat.ts";
import type { BrokerEnv } from "./broker-env.ts";
import type { OpenQueue } from "./open/open-queue.ts";

/** Delay of the alarm after one whose turn has failed, in ms. */
const ALARM_AGAIN_MS = 1_000;

/** Does what is due in a queue as its alarm rings. Where rows are billed, it may resolve when deliveries have ended. */
export async function ringQueue(
  { core, alarm, clock, isBilled }: OpenQueue,
  host: Host<BrokerEnv>,
): Promise<void> {
  // The platform may not repeat an alarm that rings early, twice, or in an object that has not set it.
  const isDue = alarm.ringsBy(clock.now());
  alarm.clear();
  try {
    if (isBilled && isDue) await core.ring((rested) => within(host, HEARTBEAT_MS, rested));
    else await core.wake();
  } catch (error) {
    host.log.error(`Queue "${core.name}": ${traceOf(error)}`);
    alarm.set(clock.now() + ALARM_AGAIN_MS);
  }
}

/** Waits for `done`, at most for a time in ms. */
async function within(host: Host<BrokerEnv>, ms: number, done: Promise<void>): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const cancel = host.after(resolve, ms);
  await Promise.race([done, isOver]);
  cancel();
}
