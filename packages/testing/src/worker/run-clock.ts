import {
  type BrokerEnv,
  DIRECTORY_NAME,
  type DirectoryClock,
  type QueueBrokerObject,
  type SettledQueue,
} from "@sluice/broker";
import type { ClockSetting, QueueTopology } from "@sluice/protocol";
import { DATES_BINDING, type RunReply, type RunRequest } from "../wire.ts";
import type { Recorder } from "./recorder.ts";

interface BrokerTime {
  clock(): Promise<ClockSetting>;
  advance(ms: number): Promise<ClockSetting>;
  /** Sets the time of `Date` in the user's Workers, where it follows the clock. */
  setDates(nowMs: number): Promise<void>;
  /** Queues that act by themselves, on a schedule. */
  readonly scheduled: readonly string[];
  /** Resolves when nothing is under way in a queue that uses this clock. */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
}

/**
 * Moves the clock from due time to due time: messages that become due are delivered at their time, in order, and so are
 * those that these deliveries send. Between two times it waits until nothing is under way in any queue.
 */
export async function runClock(
  time: BrokerTime,
  request: RunRequest,
  recorder: Recorder,
): Promise<Omit<RunReply, "queues">> {
  const { deliveriesMax, after } = request;
  const deliveriesBefore = recorder.deliveries;
  const isTooMuch = () => recorder.deliveries - deliveriesBefore > deliveriesMax;
  // A consumer that sends to its own queue never ends.
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
  for (;;) {
    const queues = await settled(time, setting, recorder);
    const beforeMs = nowOf(setting);
    // Messages that are due and still wait, such as for a client that pulls, do not move the clock.
    const next = (moments: (number | null)[]) =>
      earliest(moments.filter((ms) => ms !== null && ms > beforeMs));
    const dueMs = next(queues.map(({ atMs }) => atMs));
    const workMs = forMs === null ? next(queues.map(({ workAtMs }) => workAtMs)) : dueMs;
    const isDone = workMs === null || Math.ceil(workMs) > untilMs;
    if (isDone && (forMs === null || beforeMs === untilMs)) return { nowMs: beforeMs, nextMs: dueMs };
    const nextMs = isDone ? untilMs : Math.ceil(workMs);
    await time.setDates(nextMs);
    // The directory first, because a queue whose object starts meanwhile gets the time from it.
    setting = await time.advance(nextMs - beforeMs);
  }
}

/** Asks each queue for its next due time, until nothing has happened in any queue since it was asked. */
async function settled(
  time: BrokerTime,
  setting: ClockSetting,
  recorder: Recorder,
): Promise<readonly SettledQueue[]> {
  const known = new Map<string, SettledQueue>();
  for (let asked = namesOf(time, recorder); asked.length > 0; ) {
    const { last } = recorder;
    const replies = await Promise.all(asked.map((name) => time.settleAt(name, setting)));
    for (const [i, reply] of replies.entries()) known.set(asked[i] ?? "", reply);
    // Messages may have arrived after their queue's answer.
    const touched = new Set(recorder.after(last).map(({ queue }) => queue));
    asked = namesOf(time, recorder).filter((name) => touched.has(name) || !known.has(name));
  }
  return [...known.values()];
}

function namesOf({ scheduled }: BrokerTime, { open }: Recorder): string[] {
  return [...new Set([...scheduled, ...open])];
}

/** Reads and moves the time of a broker by its bindings. */
export function brokerTime(
  env: BrokerEnv & { readonly [DATES_BINDING]?: Fetcher },
  { queues }: QueueTopology,
): BrokerTime {
  const { SLUICE_DIRECTORY: directories, [DATES_BINDING]: dates } = env;
  const directory = () =>
    directories.get(directories.idFromName(DIRECTORY_NAME)) as unknown as DirectoryClock;
  return {
    clock: async () => directory().clock(),
    advance: async (ms) => directory().advanceClock(ms),
    setDates: async (nowMs) => {
      await dates?.fetch("http://dates/", { method: "POST", body: JSON.stringify({ nowMs }) });
    },
    scheduled: Object.entries(queues).flatMap(([name, { consumer }]) => {
      return consumer?.type === "http_push" && consumer.settings.daemon !== undefined ? [name] : [];
    }),
    settleAt: (queue, setting) => queueObject(env, queue).settleAt(queue, setting),
  };
}

/** Returns the object of a queue. Get a new one for every call. */
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
