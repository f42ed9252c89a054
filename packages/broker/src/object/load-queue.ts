import type { QueueTopology } from "@sluice/protocol";
import { clockStartMsOf } from "../platform/clock.ts";
import { traceOf } from "../platform/log.ts";
import type { QueueProbe } from "../queue/probe.ts";
import type { QueuesDirectory } from "../rpc/directory-object.ts";
import { isFileDamage } from "../store/file-damage.ts";
import type { BoundConsumers } from "./bound-consumers.ts";
import type { BrokerEnv } from "./broker-env.ts";
import type { LastEnds } from "./last-end.ts";
import { type OpenQueue, openQueue } from "./open-queue.ts";
import { type FullStorages, isStorageFull } from "./storage-full.ts";
import { UnreadableQueueError } from "./unreadable-queue.ts";

/** The object of a queue, and what it shares with those of others in its isolate. */
export interface QueueHost {
  readonly ctx: DurableObjectState;
  readonly env: BrokerEnv;
  readonly topology: QueueTopology;
  readonly consumers: BoundConsumers;
  readonly directory: QueuesDirectory;
  readonly fullStorages: FullStorages;
  readonly lastEnds: LastEnds;
  /** Queues whose database file was found to be damaged, by the epoch before. */
  readonly suspectFiles: Set<string>;
  readonly probe: QueueProbe | undefined;
  /** Calls of the object since it started. */
  requests(): number;
  /** Id of a queue's object. */
  idOf(queue: string): string;
}

/** Opens a queue on what its object has stored. Throws `UnreadableQueueError`. */
export async function loadQueue(queue: string, host: QueueHost): Promise<OpenQueue> {
  const { ctx, env, consumers, directory, fullStorages, lastEnds, suspectFiles, idOf } = host;
  const { queues } = host.topology;
  const objectOf = (name: string) => env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName(name));
  try {
    const open = await openQueue(queue, {
      storage: ctx.storage,
      directory,
      wasStorageFull: fullStorages.takeReset(queue),
      wasEndPlanned: (version) => lastEnds.wasPlanned(queue, env, version),
      cutOffDelayMs: lastEnds.delayMs(queue, env),
      version: env.SLUICE_VERSION?.id ?? null,
      keepsHistory: env.SLUICE_ENV === "development",
      isFileSuspect: suspectFiles.has(queue),
      commits: fullStorages.watch(queue),
      clockStartMs: clockStartMsOf(env),
      probe: host.probe,
      requests: host.requests,
      isBilled: env.SLUICE_ENV === undefined,
      isClockMovable: env.SLUICE_ENV === "development",
      // A queue may be called "constructor": only what the record itself holds counts.
      deployed: Object.hasOwn(queues, queue) ? queues[queue] : undefined,
      consumers,
      idOf,
      transfer: (target, transfer) => objectOf(target).take(target, transfer),
      broken: (error) => {
        if (isStorageFull(error)) fullStorages.found(queue, Date.now());
        else console.error(`Queue "${queue}": a commit failed: ${traceOf(error)}`);
        if (isFileDamage(error)) suspectFiles.add(queue);
        ctx.abort(`a commit failed, the queue starts again from its store: ${error}`);
      },
    });
    lastEnds.begun(queue);
    consumers.warnOfUnbound(queue, open.registration.record);
    return open;
  } catch (error) {
    if (isFileDamage(error)) suspectFiles.add(queue);
    throw new UnreadableQueueError(queue, error);
  }
}
