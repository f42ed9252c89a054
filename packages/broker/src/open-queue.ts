import { Alarm } from "./alarm.ts";
import { MovableClock, systemClock } from "./clock.ts";
import type { MarkDirectory } from "./directory.ts";
import { createConsoleLog } from "./log.ts";
import type { Mark } from "./mark.ts";
import type { QueuePorts } from "./ports.ts";
import { QueueCore } from "./queue-core.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { type Loss, Watermark } from "./watermark.ts";

/**
 * Largest database that is checked for its structure at every start, in bytes: that reads all of it. Measured at
 * 0.6 GB/s, so a start waits for 0.1 s at most.
 */
export const STRUCTURE_CHECK_BYTES_MAX = 64_000_000;

/** A queue with everything that keeps it in its object. */
export interface OpenQueue {
  readonly core: QueueCore;
  readonly store: SqliteStore;
  readonly clock: MovableClock;
  readonly alarm: Alarm;
}

/** What the object has to give. */
export interface OpenQueueInput
  extends Pick<QueuePorts, "definitionOf" | "consumerOf" | "handOver" | "broken"> {
  readonly storage: DurableObjectStorage;
  readonly directory: MarkDirectory;
  readonly wasStorageFull: boolean;
}

/** Name of the queue that an object's storage belongs to, `null` before the first commit. Throws if it is unreadable. */
export function nameIn(storage: DurableObjectStorage): string | null {
  return new SqliteStore(storage).readName();
}

/**
 * Opens a queue on what its object has stored, and compares that with what the queue had reported. Damage is noted and
 * does not keep the rest from going on; rejects only when nothing can be read.
 */
export async function openQueue(name: string, input: OpenQueueInput): Promise<OpenQueue> {
  const { storage, directory, ...ports } = input;
  let watermark: Watermark | undefined;
  const store = new SqliteStore(storage, () => watermark?.committed());
  const clock = new MovableClock(systemClock, store.readClockOffsetMs());
  const alarm = new Alarm(clock, (realMs) => void storage.setAlarm(realMs));
  const schedule = (callback: () => void, ms: number) => void setTimeout(callback, ms);
  const log = createConsoleLog(console, () => clock.now(), schedule);
  watermark = new Watermark(name, { store, directory, log, schedule });
  const before = store.readMark();
  const [standing, alarmAtMs, structure] = [
    await watermark.check(),
    await storage.getAlarm(),
    structuralDamageOf(store),
  ];
  alarm.found(alarmAtMs);
  const core = new QueueCore(name, {
    ...ports,
    store,
    clock,
    log,
    damageRecord: store,
    livesKnown: standing.epoch,
    setAlarm: (atMs) => alarm.set(atMs),
  });
  if (structure !== null) {
    core.damage.note(
      "structure",
      null,
      `the database file is damaged, what can be read of it is used: ${structure}`,
    );
  }
  if (standing.loss !== null) noteLoss(core, standing.loss);
  watermark.begin({
    writeMark: () => writeMark(core, store, before),
    foundLoss: (loss) => {
      noteLoss(core, loss);
      core.wakeUp();
    },
  });
  return { core, store, clock, alarm };
}

/** Writes down where the queue is. The mark names the commit that holds it. */
async function writeMark(core: QueueCore, store: SqliteStore, before: Mark): Promise<Mark> {
  let mark = before;
  await core.submit(() =>
    core.write(() => {
      mark = {
        epoch: core.epoch,
        commits: store.commits,
        messages: before.messages + core.messagesTaken,
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

function structuralDamageOf(store: SqliteStore): string | null {
  if (store.databaseBytes > STRUCTURE_CHECK_BYTES_MAX) return null;
  try {
    return store.structuralDamage();
  } catch (error) {
    // Not every platform lets a Durable Object ask.
    return String(error).includes("SQLITE_AUTH") ? null : String(error);
  }
}
