import {
  type BrokerEnv,
  DIRECTORY_NAME,
  type DirectoryClock,
  type QueueBrokerObject,
  type SettledQueue,
} from "@sluice/broker";
import type { ClockSetting, DirectoryRpc, TopicsRpc } from "@sluice/protocol";
import type { RunReply, RunRequest } from "../wire.ts";
import type { Recorder } from "./recorder.ts";

/** The clock of the broker and its queues. */
interface BrokerTime {
  clock(): Promise<ClockSetting>;
  advance(ms: number): Promise<ClockSetting>;
  /** Names of all queues, and of what else messages wait in. */
  names(): Promise<readonly string[]>;
  /** Resolves when nothing is under way in a queue that goes by a clock. */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
}

/**
 * Moves the clock from due time to due time: what comes due on the way is delivered at its time, in order, and so is
 * what that causes. Between two moments it waits until nothing is under way in any queue.
 */
export async function runClock(time: BrokerTime, request: RunRequest, recorder: Recorder): Promise<RunReply> {
  const { deliveriesMax, after } = request;
  const deliveriesBefore = recorder.deliveries;
  const isTooMuch = () => recorder.deliveries - deliveriesBefore > deliveriesMax;
  // A consumer that sends to its own queue is never done.
  const tooMuch = Promise.withResolvers<Ran | null>();
  const stop = recorder.listen(() => {
    if (isTooMuch()) tooMuch.resolve(null);
  });
  try {
    const ran = await Promise.race([run(time, request, recorder), tooMuch.promise]);
    const { nowMs, nextMs } = ran ?? { nowMs: nowOf(await time.clock()), nextMs: null };
    return { nowMs, nextMs, isTooMuch: ran === null, entries: recorder.after(after) };
  } finally {
    stop();
  }
}

type Ran = Pick<RunReply, "nowMs" | "nextMs">;

async function run(time: BrokerTime, { forMs, atMostMs }: RunRequest, recorder: Recorder): Promise<Ran> {
  let setting = await time.clock();
  const untilMs = nowOf(setting) + (forMs ?? atMostMs);
  let names = await time.names();
  let advanced: Promise<unknown> | undefined;
  for (;;) {
    const queues = await settled(time, names, setting, recorder);
    await advanced;
    const beforeMs = nowOf(setting);
    // What is due by now and has not come does not come by itself, such as what waits for a client that pulls.
    const next = (moments: (number | null)[]) =>
      earliest(moments.filter((ms) => ms !== null && ms > beforeMs));
    const dueMs = next(queues.map(({ atMs }) => atMs));
    const workMs = forMs === null ? next(queues.map(({ workAtMs }) => workAtMs)) : dueMs;
    const isDone = workMs === null || Math.ceil(workMs) > untilMs;
    if (isDone && (forMs === null || beforeMs === untilMs)) {
      const known = names.length;
      names = await time.names();
      // Dead letters may have come for a queue that was not there before.
      if (names.length === known) return { nowMs: beforeMs, nextMs: dueMs };
      continue;
    }
    const nowMs = isDone ? untilMs : Math.ceil(workMs);
    advanced = time.advance(nowMs - beforeMs);
    setting = { offsetMs: 0, frozenAtMs: nowMs };
  }
}

/** What comes next in each queue, once nothing has happened in any of them since it was asked. */
async function settled(
  time: BrokerTime,
  names: readonly string[],
  setting: ClockSetting,
  recorder: Recorder,
): Promise<readonly SettledQueue[]> {
  const known = new Map<string, SettledQueue>();
  for (let asked = names; asked.length > 0; ) {
    const { last } = recorder;
    const replies = await Promise.all(asked.map((name) => time.settleAt(name, setting)));
    for (const [i, reply] of replies.entries()) known.set(asked[i] ?? "", reply);
    // Something may have come after its queue has answered.
    const touched = new Set(recorder.after(last).map(({ queue }) => queue));
    asked = names.filter((name) => touched.has(name));
  }
  return [...known.values()];
}

type DirectoryCalls = DirectoryClock & Pick<DirectoryRpc, "list"> & Pick<TopicsRpc, "hiddenObjects">;

/** The time of a broker by its bindings. */
export function brokerTime(env: BrokerEnv): BrokerTime {
  const { SLUICE_DIRECTORY: directories } = env;
  const directory = () =>
    directories.get(directories.idFromName(DIRECTORY_NAME)) as unknown as DirectoryCalls;
  return {
    clock: async () => directory().clock(),
    advance: async (ms) => directory().advanceClock(ms),
    names: async () => {
      const [listed, hidden] = await Promise.all([directory().list(), directory().hiddenObjects()]);
      return [...listed.map(({ name }) => name), ...hidden];
    },
    settleAt: (queue, setting) => queueObject(env, queue).settleAt(queue, setting),
  };
}

/** The object of a queue. Take it anew for every call. */
export function queueObject({ SLUICE_QUEUES: queues }: BrokerEnv, queue: string): QueueBrokerObject {
  return queues.get(queues.idFromName(queue)) as unknown as QueueBrokerObject;
}

function nowOf({ offsetMs, frozenAtMs }: ClockSetting): number {
  return frozenAtMs ?? Date.now() + offsetMs;
}

function earliest(moments: readonly (number | null)[]): number | null {
  const set = moments.filter((moment) => moment !== null);
  return set.length === 0 ? null : Math.min(...set);
}
