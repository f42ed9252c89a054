import { createDirectory, createQueueBroker, type HostOf, systemClock } from "@sluice/broker";
import { nodeHost, type ObjectState, openObjects } from "@sluice/objects";
import {
  type DirectoryRpc,
  PackedIndex,
  packMessages,
  type QueueBrokerRpc,
  type QueuePullRpc,
  type QueueReceiveRpc,
  shardName,
} from "@sluice/protocol";

/** Contents of a stored queue with shards: a data folder as a release left it behind. */
export interface StoredShards {
  /** Time of the writing, as ISO 8601. */
  readonly at: string;
  /** Maps by queue, as texts (`shardMapText`). */
  readonly maps: Readonly<Record<string, string>>;
  /** Bodies by object, sorted. */
  readonly held: Readonly<Record<string, readonly string[]>>;
}

/** Object of a queue, as the tests call it. */
type QueueObject = QueueBrokerRpc &
  QueuePullRpc &
  QueueReceiveRpc & { take(queue: string, transfer: object): Promise<unknown> };

type Construct = new (state: object, env: object) => object;

/** Opens the objects of a data folder on plain Node.js, without a gateway: each shard is called by itself. */
export function openShardObjects(folder: string) {
  const hostOf = ((state: ObjectState, env: object) =>
    nodeHost(state, env, systemClock)) as unknown as HostOf;
  const options = { topology: { queues: {} }, consumers: {}, hostOf };
  const nobody = () => Promise.reject(new Error("there are no endpoints"));
  const QueueBroker = createQueueBroker(options, { post: nobody, isReady: nobody }) as unknown as Construct;
  const Directory = createDirectory(options) as unknown as Construct;
  const { env, close } = openObjects({
    folder,
    vars: { SLUICE_ENV: "local" },
    classes: {
      SLUICE_QUEUES: { uniqueKey: "sluice-QueueBroker", construct: (...args) => new QueueBroker(...args) },
      SLUICE_DIRECTORY: { uniqueKey: "sluice-Directory", construct: (...args) => new Directory(...args) },
    },
    error: (line) => console.error(line),
    now: () => Date.now(),
  });
  const { SLUICE_QUEUES, SLUICE_DIRECTORY } = env as unknown as Readonly<
    Record<string, DurableObjectNamespace>
  >;
  const stubOf = (namespace: DurableObjectNamespace | undefined, name: string) => {
    if (namespace === undefined) throw new Error("there are no such objects");
    return namespace.get(namespace.idFromName(name)) as unknown;
  };
  return {
    close,
    directory: stubOf(SLUICE_DIRECTORY, "directory") as DirectoryRpc,
    queue: (name: string) => stubOf(SLUICE_QUEUES, name) as QueueObject,
  };
}

export type ShardObjects = ReturnType<typeof openShardObjects>;

/** Packs a text as a message of a group, with a deduplication id of its own. */
export function packText(body: string, groupId?: string): Uint8Array<ArrayBuffer> {
  const id = crypto.randomUUID().replaceAll("-", "");
  return packMessages([
    {
      id,
      contentType: "text",
      body: new TextEncoder().encode(body),
      ...(groupId === undefined ? {} : { extension: { groupId, deduplicationId: body } }),
    },
  ]);
}

/** Reads the bodies that a shard holds, sorted. */
export async function heldBy(objects: ShardObjects, queue: string, shard: number, epoch: number) {
  const object = shardName(queue, shard);
  const { packed } = await objects.queue(object).peek(`${object}@${epoch}`, 100);
  const index = new PackedIndex(packed);
  const bodies = Array.from({ length: index.count }, (_, i) =>
    new TextDecoder().decode(index.message(i).body),
  );
  return bodies.sort();
}
