import {
  type BrokerEnv,
  createDirectory,
  createQueueBroker,
  type HostClock,
  type HostOf,
  systemClock,
  targetRulesOf,
} from "@sluice/broker";
import type { Gateway, QueueDirectory } from "@sluice/gateway";
import { type Disk, nodeHost, type ObjectState, openObjects } from "@sluice/objects";
import type { QueueTopology } from "@sluice/protocol";
import { gatewayFor } from "./gateway-for.ts";
import { createNodePort } from "./node-port.ts";
import { uniqueKeysOf } from "./unique-keys.ts";

export interface OpenBrokerInput {
  /** Folder of all Durable Objects of a data folder. */
  readonly folder: string;
  /** Name of the broker's Worker, after which its objects' folders are named, as by workerd. */
  readonly worker: string;
  readonly topology: QueueTopology;
  /** Variables and secrets. */
  readonly vars: Readonly<Record<string, unknown>>;
  /** Watcher of the free space on the folder's disk. Default: none. */
  readonly disk?: Disk;
  /** Clock of deadlines. Default: the system's. */
  readonly clock?: HostClock;
  /** Archive of the page at `/__sluice/`. Default: none. */
  readonly page?: Uint8Array;
  /** Searches the documentation. Default: there is none. */
  readonly searchDocs?: QueueDirectory["searchDocs"];
}

/** A broker in this process. */
export interface OpenBroker {
  readonly gateway: Gateway;
  /** Tells the broker whether the disk is full. While it is, each call frees space that is not needed. */
  room(isFull: boolean): void;
  /** Ends it: commits are in its files, and calls that are under way fail. */
  close(): void;
}

/**
 * Runs the broker of `define-broker.ts` on plain Node.js, without Workers: the same classes on the same files, in this
 * process. This saves passing each request to workerd and back.
 */
export function openBroker({
  folder,
  worker,
  topology,
  vars,
  disk,
  clock = systemClock,
  page,
  searchDocs,
}: OpenBrokerInput): OpenBroker {
  // The classes are typed by the platform's state and bindings, of which they use only the parts that exist here.
  const hostOf = ((state: ObjectState, env: object) => nodeHost(state, env, clock)) as unknown as HostOf;
  const options = { topology, consumers: {}, hostOf, ...(disk && { disk }) };
  const endpoints = createNodePort(targetRulesOf(vars as BrokerEnv));
  const QueueBroker = createQueueBroker(options, endpoints) as unknown as Construct;
  const Directory = createDirectory(options) as unknown as Construct;
  const uniqueKeys = uniqueKeysOf(worker);
  const objects = openObjects({
    folder,
    vars,
    classes: {
      SLUICE_QUEUES: {
        uniqueKey: uniqueKeys.queues,
        construct: (state, bindings) => new QueueBroker(state, bindings),
      },
      SLUICE_DIRECTORY: {
        uniqueKey: uniqueKeys.directory,
        construct: (state, bindings) => new Directory(state, bindings),
      },
    },
    error: (line) => console.error(line),
    ...(disk && { disk }),
    now: () => clock.now(),
  });
  const gateway = gatewayFor(objects.env as unknown as BrokerEnv, topology, null, page ?? null, searchDocs);
  return {
    gateway,
    room: objects.room,
    close: () => {
      objects.close();
      endpoints.close();
    },
  };
}

type Construct = new (state: object, env: object) => object;
