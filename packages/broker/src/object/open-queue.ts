import {
  beginsAfterMs,
  type ClockSetting,
  countsAfter,
  cutOffReason,
  type QueueDescription,
  type QueueRecord,
  type QueueUsage,
  REAL_TIME,
  workerOf,
} from "@sluice/protocol";
import { Faults } from "../faults/faults.ts";
import { clockStartMsOf, MovableClock, systemClock } from "../platform/clock.ts";
import { createConsoleLog, type QueueLog, traceOf } from "../platform/log.ts";
import { QueueCore } from "../queue/queue-core.ts";
import type { CommitPosition } from "../rpc/commit-position.ts";
import type { Opened, QueuesDirectory } from "../rpc/directory-object.ts";
import { type FileCondition, isFileDamage, repairFile } from "../store/file-damage.ts";
import { idleSnapshotOf } from "../store/idle-snapshot.ts";
import { SqliteStore } from "../store/sqlite-store.ts";
import { type Loss, Watermark } from "../store/watermark.ts";
import { LINGER_DEPLOYED_MS, LINGER_MS } from "../turn/group-commit.ts";
import { AwakeTime } from "../usage/awake-time.ts";
import { Alarm } from "./alarm.ts";
import { writeRecord } from "./apply-configuration.ts";
import type { BoundConsumers } from "./bound-consumers.ts";
import type { BrokerEnv, BrokerOptions } from "./broker-env.ts";
import type { LastEnds } from "./last-end.ts";
import { usageOf } from "./queue-usage.ts";
import { isOfDeleted, type Known, knownFrom, QueueNotFoundError, Registration } from "./registration.ts";
import { type FullStorages, isStorageFull } from "./storage-full.ts";
import { Timer } from "./timer.ts";
import { UnreadableQueueError, UnwritableQueueError } from "./unreadable-queue.ts";

/** A queue with everything that keeps it in its object. */
export interface OpenQueue {
  readonly core: QueueCore;
  readonly store: SqliteStore;
  readonly clock: MovableClock;
  readonly alarm: Alarm;
  readonly faults: Faults;
  readonly registration: Registration;
  /** Why nothing may be taken in: what is written to a damaged file may not stay. `null` where it may. */
  readonly unwritable: UnwritableQueueError | null;
  /** Describes the messages of the queue and how deliveries go. */
  describe(): QueueDescription;
  /** Goes by the record from now on; resolves when that is durable. */
  adopt(record: QueueRecord): Promise<void>;
  /** Stores what the queue goes by, if that is not stored; resolves when it is durable. */
  keep(): Promise<void>;
  /** Ends the queue and drops everything it holds. Nothing of this may be used afterwards. */
  drop(): void;
}

/** The object of a queue, and what it shares with those of others in its isolate. */
export interface QueueHost {
  readonly ctx: DurableObjectState;
  readonly env: BrokerEnv;
  readonly options: BrokerOptions;
  readonly consumers: BoundConsumers;
  readonly directory: QueuesDirectory;
  readonly fullStorages: FullStorages;
  readonly lastEnds: LastEnds;
  /** Queues whose database file was found to be damaged, by the epoch before. */
  readonly suspectFiles: Set<string>;
}

/** Id of a queue's object: its file is called by it. */
export function idOf(queue: string, { SLUICE_QUEUES: namespace }: BrokerEnv): string {
  return namespace.idFromName(queue).toString();
}

/**
 * Name of the queue that an object's storage belongs to, `null` before the first commit. Throws if it is unreadable.
 */
export function nameIn(storage: DurableObjectStorage): string | null {
  return new SqliteStore(storage).readName();
}

/**
 * Opens a queue on what its object has stored.
 *
 * @param requests calls of the object since it started.
 * @throws UnreadableQueueError when nothing can be read, it is another queue's, or nobody knows what the queue is.
 */
export async function openQueue(name: string, host: QueueHost, requests: () => number): Promise<OpenQueue> {
  const { suspectFiles } = host;
  try {
    const open = await begin(name, host, requests);
    host.lastEnds.begun(name);
    host.consumers.warnOfUnbound(name, open.registration.record);
    return open;
  } catch (error) {
    if (isFileDamage(error)) suspectFiles.add(name);
    throw new UnreadableQueueError(name, error);
  }
}

/**
 * Asks the directory what the queue is and how far it had come. Damage is noted and does not keep the rest from going
 * on.
 */
async function begin(name: string, host: QueueHost, requests: () => number): Promise<OpenQueue> {
  const { ctx, env, options, consumers, directory, fullStorages, lastEnds, suspectFiles } = host;
  const { storage } = ctx;
  const { probe, clock: hostClock = systemClock } = options;
  const { queues } = options.topology;
  const isDevelopment = env.SLUICE_ENV === "development";
  const version = env.SLUICE_VERSION?.id ?? null;
  const wasStorageFull = fullStorages.takeReset(name);
  const cutOffDelayMs = lastEnds.delayMs(name, env);
  const commits = fullStorages.watch(name);
  let isDropped = false;
  // Workers stop the code of an instance that has ended. Elsewhere its storage says so, and what it still does is
  // nobody's.
  const isOver = () => isDropped || (storage as { readonly isOver?: boolean }).isOver === true;
  let watermark: Watermark | undefined;
  const file = repairFile(storage, suspectFiles.has(name));
  const store = new SqliteStore(storage, {
    committed: () => {
      commits.committed();
      watermark?.committed();
    },
    durable: () => commits.durable(),
  });
  refuseForeign(store, name, env);
  const clockStartMs = clockStartMsOf(env);
  probe?.opened(name);
  const clock =
    clockStartMs === null
      ? new MovableClock(hostClock, store.readClockOffsetMs())
      : MovableClock.standing(hostClock, clockStartMs);
  const alarm = new Alarm(clock, (realMs) => void storage.setAlarm(hostClock.alarmMsOf(realMs)));
  const awake = new AwakeTime(() => systemClock.now());
  const schedule = (callback: () => void, ms: number) => {
    awake.begin();
    setTimeout(() => {
      awake.end();
      callback();
    }, ms);
  };
  const log = untilOver(
    isOver,
    createConsoleLog(console, () => clock.now(), schedule),
  );
  const copy = store.readRecord();
  let answer: Opened | null = null;
  const directoryCalls = { requests: 0, rowsWritten: 0 };
  watermark = new Watermark(name, {
    store,
    directory: {
      position: async () => {
        directoryCalls.requests += 1;
        const opened = await directory.opened(name, copy);
        answer = opened;
        return opened.position;
      },
      report: (position, snapshot) => {
        directoryCalls.requests += 1;
        directoryCalls.rowsWritten += 1;
        return directory.report(name, position, snapshot);
      },
    },
    log,
    schedule,
  });
  const before = store.readPosition();
  const versionBefore = store.readVersion();
  const [status, ends] = await Promise.all([
    watermark.check(),
    lastEnds.of(name, env, versionBefore, hostClock.now()),
  ]);
  const alarmMs = await storage.getAlarm();
  alarm.found(alarmMs === null ? null : hostClock.momentOf(alarmMs));
  if (isDevelopment) clock.goBy(clockIn(answer));
  warnOfDirectory(name, answer, log);
  // A queue may be called "constructor": only what the record itself holds counts.
  const deployed = Object.hasOwn(queues, name) ? queues[name] : undefined;
  const known = knownFrom(statusIn(answer), copy, deployed);
  if (known === null) throw new Error("the directory does not answer, and nothing else tells what it is");
  if (copy !== null && isOfDeleted(copy, known)) {
    log.warn(`Queue "${name}" was deleted; what it held is dropped`);
    store.drop();
  }
  const registration = new Registration(known);
  /** The Worker that deliveries went to which the end has cut off: the configuration may name another one since. */
  const deliveredTo = workerOf((copy ?? registration.record)?.definition.consumer);
  const timer = new Timer(clock, schedule, () => {
    if (!isOver()) void core.wake();
  });
  const broken = (error: unknown) => {
    if (isOver()) return;
    if (isStorageFull(error)) fullStorages.found(name, Date.now());
    else console.error(`Queue "${name}": a commit failed: ${traceOf(error)}`);
    if (isFileDamage(error)) suspectFiles.add(name);
    ctx.abort(`a commit failed, the queue starts again from its store: ${error}`);
  };
  const faults = new Faults({ log, queue: name, after: schedule, crash: broken });
  const core: QueueCore = new QueueCore(name, {
    store,
    clock,
    log,
    cutOffCounts: !wasStorageFull && countsAfter(ends.ofEpoch, deliveredTo),
    cutOffDelayMs,
    cutOffReason: cutOffReason(ends.ofEpoch),
    heldUntilMs: () => {
      const waitMs = beginsAfterMs(ends.ofProcess, workerOf(registration.definition?.consumer));
      // A clock that stands would hold it for ever.
      return clock.isFrozen ? 0 : ends.sinceMs + waitMs + clock.offsetMs;
    },
    damageRecord: store,
    keepsHistory: isDevelopment,
    ...(probe === undefined ? {} : { probe }),
    epochKnown: status.epoch,
    writeFirst: () => {
      // A queue that holds nothing needs no copy of what it is.
      writeRecord(registration, store);
      if (version !== null && version !== versionBefore) store.writeVersion(version);
    },
    definition: () => registration.definition,
    consumer: () => {
      const consumer = registration.definition?.consumer ?? null;
      const port = consumer === null ? null : consumers.consumerOf(consumer, clock, log);
      return port === null ? null : faults.around(probe?.around(name, port) ?? port);
    },
    daemon: () => {
      const consumer = registration.definition?.consumer;
      return consumer?.type === "http_push" && consumer.settings.format === "sqsd"
        ? consumers.callerOf(consumer.settings, clock, log)
        : null;
    },
    transfer: (target, transfer) =>
      env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName(target)).take(target, transfer),
    setAlarm: (atMs) => {
      if (!isOver()) alarm.set(atMs);
    },
    queueExists: async (queue) => (await directory.findByName(queue)) !== null,
    setTimer: (atMs) => timer.set(atMs),
    lingerMs: env.SLUICE_ENV === undefined ? LINGER_DEPLOYED_MS : LINGER_MS,
    awake,
    after: schedule,
    broken,
  });
  const { topicVersion } = answer ?? ({} as Partial<Opened>);
  if (topicVersion !== undefined) core.topic.changed(topicVersion);
  noteCondition(core, file);
  if (status.loss !== null) noteLoss(core, status.loss);
  const usage = usageOf({
    store,
    alarm,
    awake,
    core,
    requests,
    directory: directoryCalls,
  });
  const describe = (): QueueDescription => {
    const description = core.describe();
    return {
      ...description,
      rowsWritten: description.rowsWritten + alarm.timesWritten,
      usage: usage(),
      ...faults.description,
    };
  };
  const snapshotOf = (description: QueueDescription) => {
    const isMoving = core.moves.list()[0]?.status === "running";
    const hasMore = isMoving || !core.outbox.isEmpty;
    return idleSnapshotOf({ record: registration.record, hasMore, description });
  };
  const isIdleKnown = answer === null ? false : (answer as Opened).isIdle;
  watermark.begin(
    {
      writePosition: async () => {
        if (isOver()) return null;
        const position = await writePosition(core, store, before, usage);
        // What was committed since is reported later, and the queue as it is then.
        return { position, snapshot: store.commits === position.commits ? snapshotOf(describe()) : null };
      },
      foundLoss: (loss) => {
        noteLoss(core, loss);
        void core.wake();
      },
    },
    isIdleKnown,
  );
  if (copy !== null) core.delayWas(copy.definition.deliveryDelaySeconds);
  return {
    core,
    store,
    clock,
    alarm,
    faults,
    registration,
    describe: () => {
      const description = describe();
      if (snapshotOf(description) !== null) watermark.seenIdle();
      return description;
    },
    unwritable: file.kind === "damaged" ? new UnwritableQueueError(name, file.finding) : null,
    adopt: (next) =>
      core.reconfigure(
        () => registration.set(next),
        () => writeRecord(registration, store),
      ),
    keep: () => core.submit(() => core.write(() => writeRecord(registration, store))),
    drop: () => {
      isDropped = true;
      watermark.end();
      core.end(new QueueNotFoundError(name));
      store.drop();
    },
  };
}

/** Files of queues that somebody has exchanged stay as they are: put back, each has everything that it had. */
function refuseForeign(store: SqliteStore, name: string, env: BrokerEnv): void {
  const stored = store.readName();
  if (stored === null || stored === name) return;
  throw new Error(
    `its file ${idOf(name, env)}.sqlite is that of queue "${stored}", whose place is ${idOf(stored, env)}.sqlite. ` +
      `Stop the broker and put it there.`,
  );
}

/** A queue that is created after the clock was moved goes by it, too. */
function clockIn(answer: Opened | null): ClockSetting {
  return answer?.clock ?? REAL_TIME;
}

/** Reads the status in the directory's answer, which a promise sets: the compiler does not see that. */
function statusIn(answer: Opened | null): Known | null {
  return answer === null ? null : answer.status;
}

/** A directory that has lost data may have lost how far the queue had come as well. */
function warnOfDirectory(name: string, answer: Opened | null, log: QueueLog): void {
  const loss = answer?.directoryLoss ?? null;
  if (loss === null) return;
  log.error(
    `Queue "${name}": the directory has lost data: it ${loss}. ` +
      `Whether the queue's own store is complete may not be known`,
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
    info: line(log.info),
    warn: line(log.warn),
    error: line(log.error),
  };
}

/** Writes down where the queue is. The position names the commit that holds it. */
async function writePosition(
  core: QueueCore,
  store: SqliteStore,
  before: CommitPosition,
  usage: () => QueueUsage,
): Promise<CommitPosition> {
  let position = before;
  await core.submit(() =>
    core.write(() => {
      position = {
        epoch: core.epoch,
        commits: store.commits,
        messages: before.messages + core.intake.accepted.messages,
      };
      store.writePosition(position, usage());
    }),
  );
  return position;
}

function noteLoss(core: QueueCore, { commits, messages }: Loss): void {
  core.damage.note(
    "rolledBack",
    messages,
    `the database is older than the queue had reported: up to ${commits} commit(s) are missing, in which up to ` +
      `${messages} message(s) were taken in; messages that were settled in them are delivered again`,
  );
}

function noteCondition(core: QueueCore, file: FileCondition): void {
  if (file.kind === "sound") return;
  const what = {
    harmless: "the database file is damaged, though in no table of the queue",
    repaired: "the database file was damaged, and what could be read of it is kept in new tables",
    damaged: "the database file is damaged: what can be read of it is used, and nothing more is taken in",
  }[file.kind];
  core.damage.note("structure", null, `${what}: ${file.finding}`);
}
