import { type QueueDescription, type QueueRecord, type QueueUsage, sumOfUsage } from "@sluice/protocol";
import { plural, pluralIs } from "@sluice/protocol/words";
import type { Faults } from "../../faults/faults.ts";
import type { MovableClock } from "../../platform/clock.ts";
import type { HostStorage } from "../../platform/host.ts";
import { shardsLine } from "../../platform/shard-lines.ts";
import { takeDefinitionBefore } from "../../queue/definition-change.ts";
import { noteClockMoved } from "../../queue/note-clock.ts";
import type { QueueCore } from "../../queue/queue-core.ts";
import type { CommitPosition } from "../../rpc/commit-position.ts";
import type { Lender } from "../../shards/lender.ts";
import { type FileCondition, isFileDamage } from "../../store/file-damage.ts";
import { idleSnapshotOf } from "../../store/idle-snapshot.ts";
import { SqliteStore } from "../../store/sqlite-store.ts";
import type { Loss } from "../../store/watermark.ts";
import type { Alarm } from "../alarm.ts";
import { writeRecord } from "../apply-configuration.ts";
import { QueueNotFoundError, type Registration } from "../registration.ts";
import { UnreadableQueueError, UnwritableQueueError } from "../unreadable-queue.ts";
import { sendAlertEnds } from "./alert-ends.ts";
import { type AssembledQueue, assemble } from "./assemble-queue.ts";
import { identify } from "./identify-queue.ts";
import { ElsewhereError, openStore, type QueueSurroundings } from "./open-store.ts";
import { usageOf } from "./queue-usage.ts";

/** A queue with everything that keeps it in its object. */
export interface OpenQueue {
  readonly core: QueueCore;
  readonly store: SqliteStore;
  readonly clock: MovableClock;
  readonly alarm: Alarm;
  readonly faults: Faults;
  readonly registration: Registration;
  /** Lends the queue's limits to its shards. */
  readonly lender: Lender;
  /** Whether rows and time awake are billed. */
  readonly isBilled: boolean;
  /** Why nothing may be taken in: what is written to a damaged file may not stay. `null` where it may. */
  readonly unwritable: UnwritableQueueError | null;
  /** Usage of the object this month. */
  usage(): QueueUsage;
  /** Describes the messages of the queue and how deliveries go. */
  describe(): QueueDescription;
  /** Goes by the record from now on; resolves when that is durable. */
  adopt(record: QueueRecord): Promise<void>;
  /** Stores what the queue goes by, if that is not stored; resolves when it is durable. */
  keep(): Promise<void>;
  /** Writes what else is written later, quiet events and usage; resolves when that is durable. */
  flush(): Promise<void>;
  /**
   * Ends the queue at once, and drops everything it holds when its alerts have ended. Nothing of this may be used
   * afterwards.
   */
  drop(): Promise<void>;
}

/**
 * Name of the queue that an object's storage belongs to, `null` before the first commit. Throws if it is unreadable.
 */
export function nameIn(storage: HostStorage): string | null {
  return new SqliteStore(storage).readName();
}

/**
 * Opens a queue on what its object has stored. Damage is noted and does not keep the rest from going on.
 *
 * @param requests calls of the object since it started.
 * @throws UnreadableQueueError when its file cannot be read or is another queue's, or the queue cannot be identified.
 */
export async function openQueue(
  name: string,
  around: QueueSurroundings,
  requests: () => number,
): Promise<OpenQueue> {
  try {
    const stored = openStore(name, around);
    const identified = await identify(stored);
    const open = begin(assemble(identified), requests);
    await keepMap(open, around);
    around.lastEnds.begun(name);
    around.consumers.warnOfUnbound(name, open.registration.record);
    return open;
  } catch (error) {
    if (isFileDamage(error)) around.suspectFiles.add(name);
    throw error instanceof ElsewhereError ? error : new UnreadableQueueError(name, error);
  }
}

/**
 * Stores a map that the queue has learned from the directory, before a caller learns it from the queue: a later epoch
 * that does not reach the directory must not go by an earlier one.
 */
async function keepMap(
  { core, registration, store, unwritable, keep }: OpenQueue,
  { host }: QueueSurroundings,
): Promise<void> {
  const epoch = registration.record?.shards?.epoch;
  const before = store.readRecord()?.shards;
  if (epoch === undefined || unwritable !== null || before?.epoch === epoch) return;
  await keep();
  logShards(host, core.name, before, registration.record?.shards);
}

function logShards({ log }: QueueSurroundings["host"], ...change: Parameters<typeof shardsLine>): void {
  const line = shardsLine(...change);
  if (line !== null) log.log(line);
}

/** Goes on with what an earlier epoch has left behind, and begins to report. */
function begin(queue: AssembledQueue, requests: () => number): OpenQueue {
  const { name, core, store, alarm, clock, faults, lender, registration } = queue;
  const { watermark, answer, file, check } = queue;
  const usage = usageOf({ ...queue, requests, directory: queue.directoryCalls });
  store.leaveRowsOver(() => ({ messages: messagesIn(queue), usage: usage() }));
  core.begin();
  queue.options.instruments?.begun?.(core);
  if (answer?.topicVersion !== undefined) core.topic.changed(answer.topicVersion);
  noteCondition(core, file);
  if (check.loss !== null) noteLoss(core, check.loss);
  const describe = () => describeOpen(queue, usage);
  watermark.begin(
    {
      writePosition: async () => {
        if (queue.isOver()) return null;
        const position = await writePosition(queue, usage);
        // If the queue has committed since, a later report has its snapshot.
        const isCurrent = store.commits === position.commits;
        return { position, snapshot: isCurrent ? snapshotOf(queue, describe()) : null };
      },
      foundLoss: (loss) => {
        noteLoss(core, loss);
        void core.wake();
      },
    },
    answer?.isIdle ?? false,
  );
  // Without a record of the directory nothing is stored that the next start could compare with.
  if (registration.record !== null) takeDefinitionBefore(core, queue.definitionBefore);
  if (queue.clockMovedMs > 0) core.submit(() => noteClockMoved(core, queue.clockMovedMs)).catch(() => {});
  let dropped: Promise<void> | undefined;
  return {
    core,
    store,
    clock,
    alarm,
    faults,
    lender,
    registration,
    isBilled: queue.isBilled,
    usage,
    describe: () => {
      const description = describe();
      if (snapshotOf(queue, description) !== null) watermark.seenIdle();
      const { rates } = core.history;
      // A snapshot has no rates: it is shown for as long as the queue sleeps.
      return rates === undefined ? description : { ...description, rates };
    },
    unwritable: file.kind === "damaged" ? new UnwritableQueueError(name, file.finding) : null,
    adopt: async (next) => {
      const before = registration.record?.shards;
      await core.reconfigure(
        () => registration.set(next),
        () => writeRecord(registration, store),
      );
      logShards(queue.host, name, before, registration.record?.shards);
    },
    keep: () => core.submit(() => core.write(() => writeRecord(registration, store))),
    flush: async () => {
      if (queue.isOver() || file.kind === "damaged") return;
      core.history.flush();
      await writePosition(queue, usage);
    },
    drop: () => {
      dropped ??= drop(queue);
      return dropped;
    },
  };
}

async function drop(queue: AssembledQueue): Promise<void> {
  queue.end();
  queue.watermark.end();
  queue.core.end(new QueueNotFoundError(queue.name));
  await sendAlertEnds(queue);
  queue.store.drop();
}

function describeOpen(
  { core, alarm, faults, registration }: AssembledQueue,
  usage: () => QueueUsage,
): QueueDescription {
  const description = core.describe();
  const own = usage();
  const gone = registration.record?.goneUsage;
  return {
    ...description,
    rowsWritten: description.rowsWritten + alarm.timesWritten,
    usage: gone?.month === own.month ? sumOfUsage([own, gone]) : own,
    ...faults.description,
  };
}

function snapshotOf({ core, registration }: AssembledQueue, description: QueueDescription) {
  const isMoving = core.moves.list()[0]?.status === "running";
  const hasMore = isMoving || !core.outbox.isEmpty;
  return idleSnapshotOf({ record: registration.record, hasMore, description });
}

/** Writes down where the queue is. The position names the commit that holds it. */
async function writePosition(queue: AssembledQueue, usage: () => QueueUsage): Promise<CommitPosition> {
  const { core, store } = queue;
  let position = queue.before;
  await core.submit(() =>
    core.write(() => {
      position = { epoch: core.epoch, commits: store.commits, messages: messagesIn(queue) };
      store.writePosition(position, usage());
    }),
  );
  return position;
}

/** Counts the messages that the queue has ever taken in. */
function messagesIn({ core, before }: AssembledQueue): number {
  return before.messages + core.intake.accepted.messages;
}

function noteLoss(core: QueueCore, { commits, messages }: Loss): void {
  core.damage.note(
    "rolledBack",
    messages,
    `the database is older than the queue had reported: up to ${pluralIs(commits, "commit")} missing, and with ` +
      `them up to ${plural(messages, "message")}; messages that were settled in them are delivered again`,
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
