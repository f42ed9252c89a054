import type { ClockSetting, NextMoment, ReceiveReply, ReceiveRequest } from "@sluice/protocol";
import type { MovableClock } from "../platform/clock.ts";
import type { Host } from "../platform/host.ts";
import { newId } from "../platform/new-id.ts";
import { nextMomentOf, nextWorkMsOf } from "../queue/next-wake.ts";
import { noteClockMoved } from "../queue/note-clock.ts";
import type { SettledQueue } from "../rpc/queue-object.ts";
import type { OpenQueue } from "./open/open-queue.ts";

/** Sets the alarm to what is due next: the present one goes by the clock as it was before. */
export async function setAlarmAnew({ core, alarm }: OpenQueue): Promise<void> {
  alarm.clear();
  await core.wake();
}

/** Changes the clock of a queue, durably, and has the queue do what is due then. */
export async function changeClock(open: OpenQueue, change: (clock: MovableClock) => void): Promise<void> {
  const { core, store, clock } = open;
  let movedMs = 0;
  await core.submit(() => {
    const beforeMs = clock.now();
    change(clock);
    movedMs = clock.now() - beforeMs;
    core.write(() => store.writeClock(clock.setting));
  });
  // A turn of its own, at the new time of the clock.
  await core.submit(() => noteClockMoved(core, movedMs));
  await setAlarmAnew(open);
  // Receivers would wait for a moment that a frozen clock never reaches.
  if (clock.isFrozen) core.receivers.endWaits();
}

/** Receives from a queue whose clock stands: a long poll waits in real time. */
export async function receiveUnderFrozenClock(
  { core }: OpenQueue,
  { after }: Pick<Host, "after">,
  request: ReceiveRequest,
): Promise<ReceiveReply> {
  const { receiverId = newId(), waitMs = core.definition?.receive?.waitMs ?? 0 } = request;
  const stop = after(() => core.receivers.cancel(receiverId), waitMs);
  try {
    return await core.receivers.receive({ ...request, receiverId, waitMs });
  } finally {
    stop();
  }
}

/**
 * Has a queue go by a clock that stands, and do what is due then. Resolves when nothing is under way any more, with
 * what comes next. Nothing is written: a queue that starts again asks the directory what time it is.
 */
export async function settleAt(
  { core, clock, alarm }: OpenQueue,
  setting: ClockSetting,
): Promise<SettledQueue> {
  clock.goBy(setting);
  alarm.clear();
  await core.wake();
  await core.watchers.idle();
  return { ...nextMomentOf(core), workAtMs: nextWorkMsOf(core) };
}

/** Finds the next moment of a queue at which something happens by itself, now that everything is done that is due. */
export async function nextMomentIn({ core }: OpenQueue): Promise<NextMoment> {
  await core.wake();
  return nextMomentOf(core);
}
