import {
  type ClockSetting,
  hasJurisdictions,
  isShard,
  type QueueDefinition,
  queuesOf,
  REAL_TIME,
  shardOf,
  workerOf,
} from "@sluice/protocol";
import type { MovableClock } from "../../platform/clock.ts";
import type { Host } from "../../platform/host.ts";
import type { QueueLog } from "../../platform/log.ts";
import type { CommitPosition } from "../../rpc/commit-position.ts";
import type { Opened } from "../../rpc/directory-object.ts";
import type { QueueStore } from "../../store/store.ts";
import { type PositionDirectory, type StoreCheck, Watermark } from "../../store/watermark.ts";
import type { BrokerEnv } from "../broker-env.ts";
import { isOfDeleted, type Known, knownFrom, Registration } from "../registration.ts";
import { UnidentifiedError } from "../unreadable-queue.ts";
import { sendAlertEnds } from "./alert-ends.ts";
import type { KnownEnds } from "./last-end.ts";
import { ElsewhereError, idOf, type StoredQueue } from "./open-store.ts";
import type { DirectoryCalls } from "./queue-usage.ts";

/** An opening queue whose record or definition is known. */
export interface IdentifiedQueue extends StoredQueue {
  readonly registration: Registration;
  /** The directory's answer; `null` where it gives none. */
  readonly answer: Opened | null;
  /** How the store compares with what was reported of it. */
  readonly check: StoreCheck;
  readonly watermark: Watermark;
  readonly directoryCalls: DirectoryCalls;
  /** Where the queue stood at its start, by its store. */
  readonly before: CommitPosition;
  /** How far the clock was moved while the queue was asleep, in ms. */
  readonly clockMovedMs: number;
  readonly versionBefore: string | null;
  readonly ends: KnownEnds;
  /**
   * Worker of the deliveries that the end of the last epoch has cut off. The configuration may name another one since.
   */
  readonly deliveredTo: string | null;
  /** Stored definition of the queue, of an earlier epoch; `undefined` if there is none, or it was deleted since. */
  readonly definitionBefore: QueueDefinition | undefined;
}

/**
 * Finds out what the queue is, how far it had come and how its last epoch has ended. What a deleted queue has left is
 * dropped.
 *
 * @throws UnidentifiedError when the directory does not answer, and neither store nor configuration has it.
 */
export async function identify(stored: StoredQueue): Promise<IdentifiedQueue> {
  const { name, store, host, options, alarm, clock, directory, lastEnds, log, isDevelopment } = stored;
  const copy = store.readRecord();
  const before = store.readPosition();
  const versionBefore = store.readVersion();
  const directoryCalls = { requests: 0, rowsWritten: 0 };
  let answer = null as Opened | null;
  const positions: PositionDirectory = {
    position: async () => {
      directoryCalls.requests += 1;
      answer = await directory.opened(name, copy);
      return answer.position;
    },
    report: (position, snapshot) => {
      directoryCalls.requests += 1;
      directoryCalls.rowsWritten += 1;
      return directory.report(name, position, snapshot);
    },
  };
  const watermark = new Watermark(name, {
    store,
    directory: positions,
    log,
    isBilled: stored.isBilled,
    now: () => host.systemMs(),
    schedule: stored.after,
  });
  stored.watchers.push(watermark);
  const [check, ends] = await Promise.all([
    watermark.check(),
    lastEnds.of(name, host.env, versionBefore, host.clock.now()),
  ]);
  const alarmMs = await host.storage.getAlarm();
  alarm.found(alarmMs === null ? null : host.clock.momentOf(alarmMs));
  if (answer !== null && answer.directoryLoss !== null) {
    // The directory may have lost the queue's commit position as well.
    log.error(
      `Queue "${name}": the directory has lost data: it ${answer.directoryLoss}. ` +
        `Whether the queue's own store is complete may not be known`,
    );
  }
  const queues = queuesOf(options.topology);
  // A queue may be called "constructor": only what the record itself holds counts.
  const known = knownFrom(
    answer?.status ?? null,
    copy,
    Object.hasOwn(queues, name) ? queues[name] : undefined,
  );
  const { unchecked } = check;
  if (known === null) throw new UnidentifiedError(unchecked?.reason ?? "");
  if (unchecked !== null && !stored.isOver())
    stored.manyQueues.warn(name, unchecked.text, unchecked.reason, host);
  refuseElsewhere(name, known, host);
  const wasDeleted = copy !== null && isOfDeleted(copy, known);
  const isNew = () => wasDeleted || (copy === null && isBlank(store));
  const clockMovedMs = isDevelopment ? goBy(answer?.clock ?? REAL_TIME, clock, isNew()) : 0;
  if (wasDeleted) {
    logDropped(name, store, log);
    await sendAlertEnds(stored);
    store.drop();
  }
  const registration = new Registration(known);
  return {
    ...stored,
    registration,
    answer,
    check,
    watermark,
    directoryCalls,
    before,
    clockMovedMs,
    versionBefore,
    ends,
    deliveredTo: workerOf((copy ?? registration.record)?.definition.consumer),
    definitionBefore: wasDeleted ? undefined : copy?.definition,
  };
}

/** Whether a store has neither messages nor a history. The store of a deleted queue still has its epochs. */
function isBlank(store: Pick<QueueStore, "segments" | "journalHeads">): boolean {
  return [...store.segments()].length === 0 && [...store.journalHeads(0)].length === 0;
}

/**
 * Has the clock of a queue go by that of the broker. A new queue takes it over as it is.
 *
 * @returns how far it was moved while the queue was asleep, in ms.
 */
function goBy(setting: ClockSetting, clock: MovableClock, isNew: boolean): number {
  if (isNew) {
    clock.takeOver(setting);
    return 0;
  }
  const storedMs = clock.now();
  clock.goBy(setting);
  return clock.now() - storedMs;
}

/** Logs that what a deleted queue, or a shard that is gone, has left is dropped. Only messages are worth a warning. */
export function logDropped(
  name: string,
  store: Pick<QueueStore, "segments" | "outbox">,
  log: Pick<QueueLog, "info" | "warn">,
): void {
  const isEmpty = [...store.segments()].length === 0 && store.outbox().length === 0;
  if (!isEmpty) log.warn(`Queue "${name}" was deleted; what it held is dropped`);
  else if (isShard(name)) {
    const { queue, shard } = shardOf(name);
    log.info(`Shard ${shard} of queue "${queue}" is gone; it held no messages`);
  } else log.info(`Queue "${name}" was deleted; it held no messages`);
}

/** Throws `ElsewhereError` for a queue whose object is in another jurisdiction: nothing of it may be stored here. */
function refuseElsewhere(name: string, known: Known, { id, env }: Host<BrokerEnv>): void {
  if (known.kind !== "known" || !hasJurisdictions(env.SLUICE_QUEUES)) return;
  if (idOf(name, env, known.record.place) !== id.toString()) throw new ElsewhereError(name);
}
