import {
  type BrokerEnv,
  DIRECTORY_NAME,
  describeUnreadable,
  describeUnreadableTopic,
  endpointVariablesOf,
} from "@sluice/broker";
import { createGateway, type Gateway, type QueueDirectory, type ShardReport } from "@sluice/gateway";
import { alertsTrouble, alertsUrlOf, parseTraceUrl, type QueueTopology, shardName } from "@sluice/protocol";
import { describeShards, type QueueRpc } from "@sluice/shards";
import { accessOf } from "./access.ts";
import { accountOf } from "./account.ts";
import { awsOf } from "./aws.ts";
import { brokerClockOf } from "./broker-clock.ts";
import { docsOf } from "./docs.ts";
import { orLogged } from "./or-logged.ts";
import { queueObjectsOf, shardedQueuesOf } from "./queue-objects.ts";
import type { ReportedClock } from "./reported-clock.ts";
import type { ReportedDisk } from "./reported-disk.ts";

/** State of the machine as reported by the process that started workerd, since a Worker's code cannot read it. */
interface ReportedMachine {
  readonly disk: ReportedDisk;
  readonly clock: ReportedClock;
}

/**
 * Makes the HTTP side of the broker with these bindings.
 *
 * @param topology topology that the broker was deployed with.
 * @param machine state reported by the process that started workerd; `null` on plain Node.js.
 * @param page archive of the page at `/__sluice/`; `null` for a broker without it.
 * @param searchDocs searches the documentation. Default: by way of the process that runs the Workers, if one does.
 */
export function gatewayFor(
  env: BrokerEnv,
  topology: QueueTopology,
  machine: ReportedMachine | null,
  page: Uint8Array | ArrayBuffer | null,
  searchDocs = docsOf(env.SLUICE_STACKS),
): Gateway {
  const aws = awsOf(env, { isOnWorkerd: machine !== null });
  const directory = { ...directoryOf(env, topology, machine), searchDocs };
  return createGateway(directory, accessOf(env), aws, page);
}

function directoryOf(
  env: BrokerEnv,
  topology: QueueTopology,
  machine: ReportedMachine | null,
): Omit<QueueDirectory, "searchDocs"> {
  const account = accountOf(env);
  const objects = queueObjectsOf(env);
  const objectOf = (name: string) => objects.of(name);
  const queues = shardedQueuesOf(objects);
  const queueOf = (queue: string): QueueRpc => queues.of(queue);
  /** Objects that did not answer. Each is reported once. */
  const unreadable = new Set<string>();
  /**
   * Asks an object for its description, or makes one of its failure: where the platform cannot open a file, no code of
   * the object runs.
   */
  const described = async <Description>(
    name: string,
    describe: () => Promise<Description>,
    describeFailed: (reason: unknown, nowMs: number) => Description,
  ): Promise<Description> => {
    try {
      const description = await describe();
      unreadable.delete(name);
      return description;
    } catch (error) {
      const text = `its object cannot be started: ${error}`;
      if (!unreadable.has(name)) console.error(`Queue "${name}": ${text}`);
      unreadable.add(name);
      return describeFailed(text, Date.now());
    }
  };
  const variables = endpointVariablesOf(env, topology);
  const isServed = env.SLUICE_ENV !== undefined || env.SLUICE_SERVED !== undefined;
  const names = async () => {
    const listed = (await account.list()).map(({ name }) => name);
    return [...listed, ...(await account.hiddenObjects())];
  };
  return {
    account,
    topics: account,
    tokens: account,
    r2: account,
    audit: account,
    queue: queueOf,
    topic: objectOf,
    describe: (queue) =>
      described(
        queue,
        () => queueOf(queue).describe(queue),
        (reason, nowMs) => describeUnreadable(queue, reason, nowMs),
      ),
    async describeShards(queue) {
      const { map, shards } = await describeShards(objects, queue);
      return Promise.all(
        shards.map(async (found, shard): Promise<ShardReport> => {
          const isOpen = shard < map.open;
          if ("failure" in found)
            return { shard, isOpen, keepsGroups: false, found: { failure: `${found.failure}` } };
          const name = shardName(queue, shard);
          // A shard can keep groups only while groups are moving.
          const keepsGroups =
            map.before !== undefined && (await objects.of(queue, name).shardState(name)).keepsGroups;
          return { shard, isOpen, keepsGroups, found: { description: found } };
        }),
      );
    },
    describeTopic: (topicObject) =>
      described(topicObject, () => objectOf(topicObject).describeTopic(topicObject), describeUnreadableTopic),
    alerts:
      topology.alerts === undefined
        ? null
        : {
            settings: topology.alerts,
            url: alertsUrlOf(env, topology),
            trouble: alertsTrouble(env, topology),
          },
    clock: env.SLUICE_ENV === "development" ? brokerClockOf({ directory: account, names, objectOf }) : null,
    variableRefusal: (name, url) => {
      const found = variables(name, url);
      return "refusal" in found ? found.refusal : null;
    },
    // A deployed broker has no disk that can be looked at.
    isLocal: machine === null,
    traceUrl: traceUrlOf(env),
    isServed,
    reportDisk: machine !== null && isServed ? (isFull) => machine.disk.report(isFull) : null,
    reportClock:
      machine !== null && isServed
        ? async (behindMs) => {
            if (!machine.clock.report(behindMs)) return;
            await account.clockWasSet(DIRECTORY_NAME);
            for (const name of await names()) {
              await orLogged(name, "told that the clock was set", objectOf(name).clockWasSet(name));
            }
          }
        : null,
    watchR2: env.SLUICE_R2 === undefined ? null : r2Watcher(env.SLUICE_R2),
  };
}

/** Makes the function that tells the process which watches R2 buckets which of them to report. */
function r2Watcher(url: string): NonNullable<QueueDirectory["watchR2"]> {
  return async (buckets) => {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(buckets) });
    if (!response.ok) throw new Error(`writes to R2 buckets are not seen: ${response.status}`);
  };
}

/** Reads the URL of a page that shows a trace; `null` for none. Commands refuse an invalid one at their start. */
function traceUrlOf({ SLUICE_TRACE_URL: text = "" }: BrokerEnv): string | null {
  try {
    return parseTraceUrl(text.trim());
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}; traces have no links.`);
    return null;
  }
}
