import {
  ALERTS_QUEUE,
  beginsAfterMs,
  type ConsumerDefinition,
  countsAfter,
  cutOffReason,
  type ExportSettings,
  exportSettingsIn,
  type HttpPushSettings,
  inPlace,
  type Jurisdiction,
  type QueueRecord,
  shardOf,
  workerOf,
} from "@sluice/protocol";
import { Faults } from "../../faults/faults.ts";
import { traceOf } from "../../platform/log.ts";
import { newId } from "../../platform/new-id.ts";
import { QueueCore } from "../../queue/queue-core.ts";
import type { QueuePorts } from "../../queue/queue-ports.ts";
import type { QueuesDirectory } from "../../rpc/directory-object.ts";
import type { Lender } from "../../shards/lender.ts";
import { isFileDamage } from "../../store/file-damage.ts";
import { postSpans, SpanExporter } from "../../tracing/span-exporter.ts";
import { randomHex, Traces } from "../../tracing/traces.ts";
import { LINGER_DEPLOYED_MS, LINGER_MS } from "../../turn/group-commit.ts";
import { HEARTBEAT_DEPLOYED_MS, HEARTBEAT_MS } from "../../turn/heartbeat.ts";
import { writeRecord } from "../apply-configuration.ts";
import type { BrokerOptions } from "../broker-env.ts";
import { isStorageFull } from "../storage-full.ts";
import { Timer } from "../timer.ts";
import { alertsOf } from "./alert-ends.ts";
import type { IdentifiedQueue } from "./identify-queue.ts";
import { keepLatest } from "./keep-latest.ts";
import { lenderOf, shardPortsOf } from "./lent-parts.ts";

/** An opening queue with its core. */
export interface AssembledQueue extends IdentifiedQueue {
  readonly core: QueueCore;
  readonly faults: Faults;
  /** Lends the queue's limits to its shards. */
  readonly lender: Lender;
}

/** Puts the core of a queue together, and loads it. */
export function assemble(queue: IdentifiedQueue): AssembledQueue {
  const { name, log, after, options, registration, isOver, clock, host } = queue;
  const broken = (error: unknown) => reset(queue, error);
  const faults = new Faults({
    log,
    queue: name,
    after,
    crash: (error) => {
      if (!isOver()) host.abort(error.message);
    },
    acts: (deliveryId, text) => core.dispatcher.noteFault(deliveryId, text),
  });
  const timer = new Timer(clock, after, () => {
    if (!isOver()) void core.wake();
  });
  const lender: Lender = lenderOf(queue);
  const ports = portsOf(queue, { faults, timer, lender, broken });
  const core: QueueCore = new QueueCore(
    name,
    options.instruments?.ports?.(name, ports, registration) ?? ports,
  );
  return { ...queue, core, faults, lender };
}

/** Ends the object after a failed commit, when memory and store differ. It starts again from its store. */
function reset(queue: IdentifiedQueue, error: unknown): void {
  const { name, host, fullStorages, suspectFiles, isOver } = queue;
  if (isOver()) return;
  if (isStorageFull(error)) fullStorages.found(name, host.systemMs());
  else host.log.error(`Queue "${name}": a commit failed: ${traceOf(error)}`);
  if (isFileDamage(error)) suspectFiles.add(name);
  host.abort(`a commit failed, the queue starts again from its store: ${error}`);
}

/** Name of the Worker that consumes a queue by the configuration. An API may have removed it since. */
function configuredWorkerOf(name: string, { topology: { queues } }: BrokerOptions): string | null {
  const { queue } = shardOf(name);
  // A queue may be called "constructor": only what the record itself holds counts.
  return Object.hasOwn(queues, queue) ? workerOf(queues[queue]?.consumer) : null;
}

function portsOf(
  queue: IdentifiedQueue,
  {
    faults,
    timer,
    lender,
    broken,
  }: { faults: Faults; timer: Timer; lender: Lender; broken: (error: unknown) => void },
): QueuePorts {
  const { name, store, clock, log, host, alarm, awake, registration, consumers, directory, ends } = queue;
  const { env } = host;
  const version = env.SLUICE_VERSION?.id ?? null;
  const alerts = alertsOf(name, queue.options);
  const heartbeatMs = queue.isBilled ? HEARTBEAT_DEPLOYED_MS : HEARTBEAT_MS;
  // A turn asks for its consumer several times.
  const portOf = keepLatest((consumer: ConsumerDefinition) =>
    consumers.consumerOf(name, consumer, clock, log),
  );
  const callerOf = keepLatest((settings: HttpPushSettings) => consumers.callerOf(name, settings, clock, log));
  return {
    store,
    clock,
    log,
    cutOffCounts: !queue.wasStorageFull && countsAfter(ends.ofEpoch, queue.deliveredTo),
    cutOffDelayMs: queue.cutOffDelayMs,
    cutOffReason: cutOffReason(ends.ofEpoch),
    heldUntilMs: () => {
      const waitMs = beginsAfterMs(ends.ofProcess, workerOf(registration.definition?.consumer));
      // A frozen clock would never reach that moment.
      return clock.isFrozen ? 0 : ends.sinceMs + waitMs + clock.offsetMs;
    },
    keepsHistory: queue.isDevelopment,
    isBilled: queue.isBilled,
    alerts: alerts && { settings: alerts, quotesFailures: () => registration.record?.jurisdiction == null },
    observer: undefined,
    traces: tracesOf(queue),
    jitterSeed: "",
    epochKnown: queue.check.epoch,
    writeFirst: () => {
      // Not before the first commit: a queue that stores nothing needs no copy of its record.
      writeRecord(registration, store);
      if (version !== null && version !== queue.versionBefore) store.writeVersion(version);
      // The stored clock is outdated in a new queue, and where the clock was moved while the queue was asleep.
      if (queue.keepsClock && !clock.isAt(store.readClock())) store.writeClock(clock.setting);
    },
    newMessageId: newId,
    definition: () => registration.definition,
    configuredWorker: configuredWorkerOf(name, queue.options),
    shardMap: () => registration.record?.shards,
    consumer: () => {
      const consumer = registration.definition?.consumer ?? null;
      const port = consumer === null ? null : portOf(consumer);
      return port === null ? null : faults.around(port);
    },
    daemon: () => {
      const consumer = registration.definition?.consumer;
      return consumer?.type === "http_push" && consumer.settings.format === "sqsd"
        ? callerOf(consumer.settings)
        : null;
    },
    account: env.SLUICE_AWS_ACCOUNT_ID,
    transfer: (target, transfer) => {
      const take = (place?: Jurisdiction) => {
        const namespace = inPlace(env.SLUICE_QUEUES, place);
        return namespace.get(namespace.idFromName(target)).take(target, transfer);
      };
      const { record } = registration;
      // All shards of a queue are in one place.
      if (isShardOfSame(target, queue.name)) return take(record?.place);
      // A queue without a jurisdiction sends only to queues without one. Alerts may leave a jurisdiction: they have
      // nothing of a message in them.
      return record?.jurisdiction == null || target === ALERTS_QUEUE
        ? take()
        : placeFor(target, record, directory).then(take);
    },
    queueExists: async (name) => {
      const target = await directory.findByName(name);
      return target !== null && target.jurisdiction === (registration.record?.jurisdiction ?? null);
    },
    setAlarm: (atMs) => {
      if (!queue.isOver()) alarm.set(atMs);
    },
    setTimer: (atMs) => timer.set(atMs),
    shard: shardPortsOf(queue, () => lender),
    heartbeatMs,
    ringsSoon: () => queue.isBilled && alarm.ringsBy(clock.now() + heartbeatMs),
    lingerMs: queue.isBilled ? LINGER_DEPLOYED_MS : LINGER_MS,
    awake,
    after: queue.after,
    broken,
  };
}

/** Makes the spans of a queue; `null` where no collector is set, or its settings are invalid. */
function tracesOf({ name, host, log, after }: IdentifiedQueue): Traces | null {
  let settings: ExportSettings | null;
  try {
    settings = exportSettingsIn(host.env);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    log.error(`Queue "${name}": no spans are exported: ${error.message}`);
    return null;
  }
  if (settings === null) return null;
  const warn = (text: string) => log.warn(`Queue "${name}": ${text}`);
  const exporter = new SpanExporter({ settings, post: postSpans, after, warn });
  return new Traces(shardOf(name).queue, {
    ratio: settings.ratio,
    nowMs: () => host.systemMs(),
    randomHex,
    export: (spans) => exporter.add(spans),
  });
}

function isShardOfSame(target: string, name: string): boolean {
  return target !== name && shardOf(target).queue === shardOf(name).queue;
}

/** Creates the queue that messages go to if need be, and returns its place. Messages stay in their jurisdiction. */
async function placeFor(target: string, { name, jurisdiction }: QueueRecord, directory: QueuesDirectory) {
  const ensured = await directory.ensureQueue(target, jurisdiction);
  if (ensured.ok && ensured.record.jurisdiction === jurisdiction) return ensured.record.place;
  throw new Error(`queue "${target}" is not in the jurisdiction ${jurisdiction} of queue "${name}"`);
}
