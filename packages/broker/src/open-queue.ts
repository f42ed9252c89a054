import type { QueueDefinition, QueueDescription, QueueRecord } from "@sluice/protocol";
import { Alarm } from "./alarm.ts";
import type { BoundConsumers } from "./bound-consumers.ts";
import { MovableClock, systemClock } from "./clock.ts";
import type { Opened, QueuesDirectory } from "./directory/queue-calls.ts";
import { type FileCondition, mendFile } from "./file-damage.ts";
import { writeRecord } from "./follow.ts";
import { createConsoleLog, type QueueLog } from "./log.ts";
import type { Mark } from "./mark.ts";
import type { QueuePorts } from "./ports.ts";
import { QueueCore } from "./queue-core.ts";
import { isOfDeleted, type Known, knownFrom, QueueNotFoundError, Registration } from "./registration.ts";
import { restOf } from "./rest.ts";
import { type CommitWatcher, SqliteStore } from "./sqlite-store.ts";
import { Timer } from "./timer.ts";
import { UnwritableQueueError } from "./unreadable-queue.ts";
import { type Loss, Watermark } from "./watermark.ts";

/** A queue with everything that keeps it in its object. */
export interface OpenQueue {
  readonly core: QueueCore;
  readonly store: SqliteStore;
  readonly clock: MovableClock;
  readonly alarm: Alarm;
  readonly registration: Registration;
  /** Why nothing may be taken in: what is written to a damaged file may not stay. `null` where it may. */
  readonly unwritable: UnwritableQueueError | null;
  /** What it holds and how deliveries go. */
  describe(): QueueDescription;
  /** Goes by the record from now on; resolves when that is durable. */
  adopt(record: QueueRecord): Promise<void>;
  /** Stores what the queue goes by, if that is not stored; resolves when it is durable. */
  keep(): Promise<void>;
  /** Ends the queue and drops everything it holds. Nothing of this may be used afterwards. */
  drop(): void;
}

/** What the object has to give. */
export interface OpenQueueInput extends Pick<QueuePorts, "handOver" | "broken"> {
  readonly storage: DurableObjectStorage;
  readonly directory: QueuesDirectory;
  readonly wasStorageFull: boolean;
  /** Whether an earlier life found its database file to be damaged. */
  readonly isFileSuspect: boolean;
  readonly commits: CommitWatcher;
  /** What the broker was deployed with; `undefined` for a queue that no configuration names. */
  readonly deployed: QueueDefinition | undefined;
  readonly consumers: Pick<BoundConsumers, "consumerOf" | "callerOf">;
}

/** Name of the queue that an object's storage belongs to, `null` before the first commit. Throws if it is unreadable. */
export function nameIn(storage: DurableObjectStorage): string | null {
  return new SqliteStore(storage).readName();
}

/**
 * Opens a queue on what its object has stored: asks the directory what it is and how far it had come. Damage is noted and
 * does not keep the rest from going on; rejects only when nothing can be read, or nobody knows what the queue is.
 */
export async function openQueue(name: string, input: OpenQueueInput): Promise<OpenQueue> {
  const { storage, directory, handOver, wasStorageFull } = input;
  let isDropped = false;
  // Workers stop the code of an object whose life is over. Elsewhere its storage says so, and what it still does is nobody's.
  const isOver = () => isDropped || (storage as { readonly isOver?: boolean }).isOver === true;
  let watermark: Watermark | undefined;
  const file = mendFile(storage, input.isFileSuspect);
  const store = new SqliteStore(storage, {
    committed: () => {
      input.commits.committed();
      watermark?.committed();
    },
    durable: () => input.commits.durable(),
  });
  const clock = new MovableClock(systemClock, store.readClockOffsetMs());
  const alarm = new Alarm(clock, (realMs) => void storage.setAlarm(realMs));
  const schedule = (callback: () => void, ms: number) => void setTimeout(callback, ms);
  const log = untilOver(
    isOver,
    createConsoleLog(console, () => clock.now(), schedule),
  );
  const copy = store.readRecord();
  let answer: Opened | null = null;
  const opening = directory.opened(name, copy).then((opened) => {
    answer = opened;
    return opened;
  });
  watermark = new Watermark(name, {
    store,
    directory: {
      markOf: async () => (await opening).mark,
      report: (queue, mark, rest) => directory.report(queue, mark, rest),
    },
    log,
    schedule,
  });
  const before = store.readMark();
  const standing = await watermark.check();
  alarm.found(await storage.getAlarm());
  warnOfDirectory(name, answer, log);
  const known = knownFrom(standingIn(answer), copy, input.deployed);
  if (known === null) throw new Error("the directory does not answer, and nothing else tells what it is");
  if (copy !== null && isOfDeleted(copy, known)) {
    log.warn(`Queue "${name}" was deleted; what it held is dropped`);
    store.drop();
  }
  const registration = new Registration(known);
  const timer = new Timer(clock, schedule, () => {
    if (!isOver()) core.wakeUp();
  });
  const core: QueueCore = new QueueCore(name, {
    store,
    clock,
    log,
    wasStorageFull,
    damageRecord: store,
    livesKnown: standing.epoch,
    // A queue that holds nothing needs no copy of what it is.
    writeFirst: () => writeRecord(registration, store),
    definitionOf: () => registration.definition,
    consumerOf: () => {
      const consumer = registration.definition?.consumer ?? null;
      return consumer === null ? null : input.consumers.consumerOf(consumer, clock, log);
    },
    daemonOf: () => {
      const consumer = registration.definition?.consumer;
      return consumer?.type === "http_push" && consumer.settings.format === "sqsd"
        ? input.consumers.callerOf(consumer.settings, clock, log)
        : null;
    },
    handOver,
    setAlarm: (atMs) => {
      if (!isOver()) alarm.set(atMs);
    },
    queueExists: async (queue) => (await directory.findByName(queue)) !== null,
    setTimer: (atMs) => timer.set(atMs),
    after: schedule,
    hasOutputGate: true,
    broken: (error) => {
      if (!isOver()) input.broken(error);
    },
  });
  const { topicVersion } = answer ?? ({} as Partial<Opened>);
  if (topicVersion !== undefined) core.topic.changed(topicVersion);
  noteCondition(core, file);
  if (standing.loss !== null) noteLoss(core, standing.loss);
  const describe = (): QueueDescription => {
    const description = core.describe();
    return { ...description, rowsWritten: description.rowsWritten + alarm.timesWritten };
  };
  const rest = (description: QueueDescription) => {
    const isMoving = core.moves.list()[0]?.status === "running";
    const hasMore = isMoving || !core.outbox.isEmpty;
    return restOf({ record: registration.record, hasMore, description });
  };
  const isRestKnown = answer === null ? false : (answer as Opened).isAtRest;
  watermark.begin(
    {
      writeMark: async () => {
        const mark = await writeMark(core, store, before);
        // What was committed since is reported later, and the queue as it is then.
        return { mark, rest: store.commits === mark.commits ? rest(describe()) : null };
      },
      foundLoss: (loss) => {
        noteLoss(core, loss);
        core.wakeUp();
      },
    },
    isRestKnown,
  );
  if (copy !== null) core.delayWas(copy.definition.deliveryDelaySeconds);
  return {
    core,
    store,
    clock,
    alarm,
    registration,
    describe: () => {
      const description = describe();
      if (rest(description) !== null) watermark.seenAtRest();
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

/** What the directory has answered: set by a promise, which the compiler does not see. */
function standingIn(answer: Opened | null): Known | null {
  return answer === null ? null : answer.standing;
}

/** A directory that has lost data may have lost how far the queue had come as well. */
function warnOfDirectory(name: string, answer: Opened | null, log: QueueLog): void {
  const loss = answer?.directoryLoss ?? null;
  if (loss === null) return;
  log.error(
    `Queue "${name}": the directory has lost data: it ${loss}. Whether the queue's own store is complete may not be known`,
  );
}

/** What a queue still does after its end concerns nobody. */
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

/** Writes down where the queue is. The mark names the commit that holds it. */
async function writeMark(core: QueueCore, store: SqliteStore, before: Mark): Promise<Mark> {
  let mark = before;
  await core.submit(() =>
    core.write(() => {
      mark = {
        epoch: core.epoch,
        commits: store.commits,
        messages: before.messages + core.intake.messagesTaken,
      };
      store.writeMark(mark);
    }),
  );
  return mark;
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
    mended: "the database file was damaged, and what could be read of it is kept in new tables",
    damaged: "the database file is damaged: what can be read of it is used, and nothing more is taken in",
  }[file.kind];
  core.damage.note("structure", null, `${what}: ${file.finding}`);
}
