import {
  hasJurisdictions,
  inPlace,
  isShard,
  isWhole,
  type Jurisdiction,
  type QueueTopology,
  queuesOf,
} from "@sluice/protocol";
import { alarmMsAfter, clockStartMsOf } from "../platform/clock.ts";
import type { Host } from "../platform/host.ts";
import { newId } from "../platform/new-id.ts";
import type { ConfiguredQueueObject } from "../rpc/queue-object.ts";
import { Changes } from "./changes.ts";
import { Notices } from "./notices.ts";
import { Registry } from "./registry.ts";
import { ShardAsks } from "./shard-asks.ts";
import { AuditRows } from "./tables/audit-rows.ts";
import { ClockRow } from "./tables/clock-row.ts";
import { CommitPositions } from "./tables/commit-positions.ts";
import { Deletions } from "./tables/deletions.ts";
import { endsWithQueues, IdleSnapshots, type PlaceEnv } from "./tables/idle-snapshots.ts";
import { Purges } from "./tables/purges.ts";
import { R2Buckets } from "./tables/r2-buckets.ts";
import { DirectoryRows } from "./tables/rows.ts";
import { Subscriptions } from "./tables/subscriptions.ts";
import { Tokens } from "./tables/tokens.ts";
import { TopicNotices } from "./topics/topic-notices.ts";
import { TopicRows } from "./topics/topic-rows.ts";
import { TopicVersions } from "./topics/topic-versions.ts";
import { Topics } from "./topics/topics.ts";

export interface DirectoryEnv extends PlaceEnv {
  readonly SLUICE_QUEUES?: DurableObjectNamespace<ConfiguredQueueObject>;
  readonly SLUICE_CLOCK_START?: string;
  readonly SLUICE_R2?: string;
}

/** Parts of the directory's object. */
export type DirectoryParts = ReturnType<typeof directoryParts>;

/** Puts the parts of the directory together on what its object has stored. */
export function directoryParts(host: Host<DirectoryEnv>, topology: QueueTopology) {
  const { sql } = host.storage;
  const now = () => host.systemMs();
  const warn = (line: string) => host.log.warn(`Directory: ${line}`);
  /** Makes all writes or none. On failure the object restarts, because memory may differ from the store. */
  const transaction = <Result>(change: () => Result): Result => {
    try {
      return host.storage.transactionSync(change);
    } catch (error) {
      host.abort(`a change could not be stored: ${error}`);
      throw error;
    }
  };
  /** Returns the object of a queue or a topic. @param place jurisdiction that it is made in. */
  const objectOf = (name: string, place?: Jurisdiction): DurableObjectStub<ConfiguredQueueObject> => {
    const { SLUICE_QUEUES: namespace } = host.env;
    if (namespace === undefined) throw new Error("the binding SLUICE_QUEUES is missing");
    const there = inPlace(namespace, place);
    return there.get(there.idFromName(name));
  };

  const positions = new CommitPositions(sql);
  const rows = new DirectoryRows(sql);
  const subscriptions = new Subscriptions(sql, now);
  const purges = new Purges(sql);
  const clock = new ClockRow(sql, host.clock, clockStartMsOf(host.env));
  const deletions = new Deletions(sql);
  const tokens = new Tokens(sql, now);
  const audit = new AuditRows(sql, now);
  const registry = new Registry(rows.all(), {
    save: (row) => rows.save(row),
    erase: (name) => rows.delete(name),
    now,
    newId,
    hasJurisdictions: hasJurisdictions(host.env.SLUICE_QUEUES ?? {}),
    configured: queuesOf(topology),
  });
  const isPart = (name: string) => {
    const map = registry.queue(name)?.record.shards;
    return isShard(name) || (map !== undefined && !isWhole(map));
  };
  const snapshots = new IdleSnapshots(positions, now, isPart, endsWithQueues(host.env));
  const topics = new Topics(new TopicRows(sql), new TopicVersions(sql, now), {
    queues: registry,
    settings: topology.sns ?? {},
    now,
    newId,
    warn,
  });
  const r2 = new R2Buckets(sql, {
    queueById: (queueId) => registry.queueById(queueId)?.record,
    queueByName: (name) => registry.queue(name)?.record,
    take: async ({ name, place }, transfer) => objectOf(name, place).take(name, transfer),
    newId,
    now,
    warn,
  });
  const notices = new Notices(registry, {
    configure: async (name, record) => objectOf(name, record.place).configure(name, record),
    clear: async ({ name, revision, place }) => (await objectOf(name, place).clear(name, revision)) ?? 0,
    transaction,
    log: (line) => host.log.log(line),
    warn,
  });
  const topicNotices = new TopicNotices(topics.registry, {
    topicChanged: async (name, version) => objectOf(name).topicChanged(name, version),
    transaction,
    warn,
  });
  const asks = new ShardAsks(registry, {
    shardState: async (name, { place }) => objectOf(name, place).shardState(name),
    transaction,
    now,
    warn,
  });
  const changes = new Changes(
    registry,
    { notices, others: [topicNotices], asks },
    {
      transaction,
      wakeAfter: (ms) =>
        ms === null ? host.storage.deleteAlarm() : host.storage.setAlarm(alarmMsAfter(host.clock, ms)),
      after: (ms) => new Promise((resolve) => void host.after(resolve, ms)),
    },
  );
  return {
    positions,
    snapshots,
    rows,
    subscriptions,
    purges,
    clock,
    deletions,
    registry,
    changes,
    topics,
    tokens,
    r2,
    audit,
    transaction,
  };
}
