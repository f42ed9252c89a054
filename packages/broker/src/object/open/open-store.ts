import { ELSEWHERE, hasJurisdictions, inPlace, JURISDICTIONS, type Jurisdiction } from "@sluice/protocol";
import { clockStartMsOf, MovableClock } from "../../platform/clock.ts";
import type { Host } from "../../platform/host.ts";
import { createConsoleLog, type QueueLog } from "../../platform/log.ts";
import type { ManyQueuesLog } from "../../platform/many-queues-log.ts";
import type { QueuesDirectory } from "../../rpc/directory-object.ts";
import { type FileCondition, repairFile } from "../../store/file-damage.ts";
import { type CommitWatcher, SqliteStore } from "../../store/sqlite-store.ts";
import { AwakeTime } from "../../usage/awake-time.ts";
import { Alarm } from "../alarm.ts";
import type { BoundConsumers } from "../bound-consumers.ts";
import type { BrokerEnv, BrokerOptions } from "../broker-env.ts";
import type { FullStorages } from "../storage-full.ts";
import type { LastEnds } from "./last-end.ts";

/** The object of a queue, and what it shares with those of others in its isolate. */
export interface QueueSurroundings {
  readonly host: Host<BrokerEnv>;
  readonly options: BrokerOptions;
  readonly consumers: BoundConsumers;
  readonly directory: QueuesDirectory;
  readonly fullStorages: FullStorages;
  readonly lastEnds: LastEnds;
  /** Queues whose database file was found to be damaged, by the epoch before. */
  readonly suspectFiles: Set<string>;
  readonly manyQueues: ManyQueuesLog;
}

/** An opening queue whose store is open. */
export interface StoredQueue extends QueueSurroundings {
  readonly name: string;
  readonly file: FileCondition;
  readonly store: SqliteStore;
  /** Called at each commit of the store. */
  readonly watchers: Partial<CommitWatcher>[];
  readonly clock: MovableClock;
  /** Whether the clock's setting is stored: in development, unless a test says where it stands at every start. */
  readonly keepsClock: boolean;
  readonly alarm: Alarm;
  readonly awake: AwakeTime;
  readonly log: QueueLog;
  readonly isDevelopment: boolean;
  /** Whether rows and time awake are billed: on an account, not on a machine of one's own. */
  readonly isBilled: boolean;
  /** Whether the epoch before ended because something could not be written. */
  readonly wasStorageFull: boolean;
  /** How long messages wait that were in delivery when the epoch before ended, if that counts, in ms. */
  readonly cutOffDelayMs: number;
  /** Whether the object has ended, or the queue was dropped: what it still does has no effect. */
  isOver(): boolean;
  /** Notes that the queue is dropped. */
  end(): void;
  /** Calls back after a time in ms, during which the object cannot sleep. @returns a function that cancels it. */
  after(callback: () => void, ms: number): () => void;
}

/** Id of a queue's object, after which its file is named. @param place jurisdiction that the object is made in. */
export function idOf(queue: string, env: BrokerEnv, place?: Jurisdiction | null): string {
  return inPlace(env.SLUICE_QUEUES, place).idFromName(queue).toString();
}

/** Whether an id is that of a queue's object, in whichever jurisdiction. */
export function isIdOf(queue: string, id: string, env: BrokerEnv): boolean {
  if (idOf(queue, env) === id) return true;
  return hasJurisdictions(env.SLUICE_QUEUES) && JURISDICTIONS.some((place) => idOf(queue, env, place) === id);
}

/** An object that is asked for a queue whose object is in another jurisdiction. */
export class ElsewhereError extends Error {
  override readonly name = "ElsewhereError";

  constructor(queue: string) {
    super(
      `queue "${queue}" ${ELSEWHERE}; a sender that an earlier Sluice has deployed is to be deployed again`,
    );
  }
}

/** Opens the store of a queue. @throws when what is stored is another queue's. */
export function openStore(name: string, around: QueueSurroundings): StoredQueue {
  const { host, options, fullStorages, lastEnds, suspectFiles } = around;
  const { env, storage } = host;
  const wasStorageFull = fullStorages.takeReset(name);
  const cutOffDelayMs = lastEnds.delayMs(name, env);
  const watchers: Partial<CommitWatcher>[] = [fullStorages.watch(name)];
  const file = repairFile(storage, suspectFiles.has(name));
  const store =
    options.instruments?.openStore?.(name, storage, watchers) ?? new SqliteStore(storage, watchers);
  refuseForeign(store, name, env);
  const clockStartMs = clockStartMsOf(env);
  const clock =
    clockStartMs === null
      ? MovableClock.by(host.clock, store.readClock())
      : MovableClock.standing(host.clock, clockStartMs);
  const isDevelopment = env.SLUICE_ENV === "development";
  const awake = new AwakeTime(() => host.systemMs());
  const after = (callback: () => void, ms: number) => {
    let isSet = true;
    const ended = () => {
      if (isSet) awake.end();
      isSet = false;
    };
    awake.begin();
    const cancel = host.after(() => {
      ended();
      callback();
    }, ms);
    return () => {
      cancel();
      ended();
    };
  };
  let isDropped = false;
  const isOver = () => isDropped || host.isOver;
  return {
    ...around,
    name,
    file,
    store,
    watchers,
    clock,
    keepsClock: isDevelopment && clockStartMs === null,
    alarm: new Alarm(clock, (realMs) => void storage.setAlarm(host.clock.alarmMsOf(realMs))),
    awake,
    log: untilOver(
      isOver,
      createConsoleLog(host.log, () => clock.now(), after),
    ),
    isDevelopment,
    isBilled: env.SLUICE_ENV === undefined,
    wasStorageFull,
    cutOffDelayMs,
    isOver,
    end: () => {
      isDropped = true;
    },
    after,
  };
}

/** Throws if the file is another queue's. It stays as it is: put back in its place, it has everything that it had. */
function refuseForeign(store: SqliteStore, name: string, env: BrokerEnv): void {
  const stored = store.readName();
  if (stored === null || stored === name) return;
  throw new Error(
    `its file ${idOf(name, env)}.sqlite is that of queue "${stored}", whose place is ${idOf(stored, env)}.sqlite. ` +
      `Stop the broker and put it there.`,
  );
}

/** Makes a log that leaves out the lines which a queue still prints after its end. */
function untilOver(isOver: () => boolean, log: QueueLog): QueueLog {
  const line = (print: (text: string) => void) => (text: string) => {
    if (!isOver()) print(text);
  };
  return {
    handled: (...batch) => {
      if (!isOver()) log.handled(...batch);
    },
    message: (...event) => {
      if (!isOver()) log.message(...event);
    },
    info: line(log.info),
    warn: line(log.warn),
    error: line(log.error),
  };
}
