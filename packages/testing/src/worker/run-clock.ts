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

/** The clock of the broker and its queues. */
interface BrokerTime {
  clock(): Promise<ClockSetting>;
  advance(ms: number): Promise<ClockSetting>;
  /** Sets the time that `Date` has in the user's Workers, where it follows the clock. */
  setDates(nowMs: number): Promise<void>;
  /** Queues that do something by themselves: what a schedule says. */
  readonly scheduled: readonly string[];
  /** Resolves when nothing is under way in a queue that goes by a clock. */
  settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue>;
}

/**
 * Moves the clock from due time to due time: what comes due on the way is delivered at its time, in order, and so is
 * what that causes. Between two moments it waits until nothing is under way in any queue.
 */
export async function runClock(
  time: BrokerTime,
  request: RunRequest,
  recorder: Recorder,
): Promise<Omit<RunReply, "queues">> {
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
  for (;;) {
    const queues = await settled(time, setting, recorder);
    const beforeMs = nowOf(setting);
    // What is due by now and has not come does not come by itself, such as what waits for a client that pulls.
    const next = (moments: (number | null)[]) =>
      earliest(moments.filter((ms) => ms !== null && ms > beforeMs));
    const dueMs = next(queues.map(({ atMs }) => atMs));
    const workMs = forMs === null ? next(queues.map(({ workAtMs }) => workAtMs)) : dueMs;
    const isDone = workMs === null || Math.ceil(workMs) > untilMs;
    if (isDone && (forMs === null || beforeMs === untilMs)) return { nowMs: beforeMs, nextMs: dueMs };
    const nextMs = isDone ? untilMs : Math.ceil(workMs);
    await time.setDates(nextMs);
    // The directory first: a queue whose object starts meanwhile goes by what that says.
    setting = await time.advance(nextMs - beforeMs);
  }
}

/** Asks each queue for what comes next, until nothing has happened in any of them since it was asked. */
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
    // Something may have come after its queue has answered.
    const touched = new Set(recorder.after(last).map(({ queue }) => queue));
    asked = namesOf(time, recorder).filter((name) => touched.has(name) || !known.has(name));
  }
  return [...known.values()];
}

function namesOf({ scheduled }: BrokerTime, { open }: Recorder): string[] {
  return [...new Set([...scheduled, ...open])];
}

/** The time of a broker by its bindings. */
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
