import type { EndpointPort } from "@sluice/broker";
import type { QueueCore, QueuePorts, Registration, SqliteStore } from "@sluice/broker/testing";
import type { Delivery, DeliveryResult, LastEnd } from "@sluice/protocol";

/** Properties of a queue that a planted mistake may depend on. */
export interface AfflictedQueue {
  readonly isTopic: boolean;
  /** Number of its epochs so far. */
  readonly epochs: number;
  /** How the epoch before has ended, as the queue was told. */
  readonly endTold: LastEnd;
  /** Calls the Worker that it pushes to before the writes are durable; `null` if there is none. */
  readonly deliverAtOnce: ((delivery: Delivery) => Promise<DeliveryResult>) | null;
  /** `null` in a history without a directory. */
  readonly registered: object | null;
  /** `null` unless it was deleted. */
  readonly gone: object | null;
}

/**
 * A mistake that is made on purpose, to see that the simulation finds it. It gets into a queue by the broker's
 * `Instruments`, and into the rest by the simulated host; the sources stay as they are.
 */
export interface PlantedBug {
  /** Description of the mistake, in a few words. */
  readonly name: string;
  /** Property that it breaks, whose checker has to find it without the others. */
  readonly property: string;
  /** A mistake of the directory, or of a queue that the directory calls. */
  readonly directory?: DirectoryBug;
  /** A mistake of the clock that all queues go by. */
  readonly clock?: ClockBug;
  /** A mistake of a queue with shards. */
  readonly shards?: ShardBug;
  /** Whether answers and calls leave a queue's object before its writes are durable. */
  readonly gateIsOpen?: boolean;
  changeStore?(store: SqliteStore, queue: AfflictedQueue): void;
  changeRegistration?(registration: Registration): void;
  wrapPorts?(ports: QueuePorts, queue: AfflictedQueue): QueuePorts;
  wrapEndpoint?(port: EndpointPort): EndpointPort;
  changeCore?(core: QueueCore, queue: AfflictedQueue): void;
}

/**
 * - `tellsOnce`: an object that could not be called with its record counts as told.
 * - `tellsNobody`: every object counts as told, and none is called.
 * - `forgetsDeletions`: the deletion of a queue is not stored.
 * - `dropsAlways`: a queue drops everything whenever it is changed.
 */
export type DirectoryBug = "tellsOnce" | "tellsNobody" | "forgetsDeletions" | "dropsAlways";

/**
 * - `forgetsAShard`: a receive takes shard 1 to be empty.
 * - `skipsFormerOwner`: maps that callers get have no `before`.
 * - `movesTooEarly`: every shard answers that it holds no group of another shard.
 * - `storesByOldMaps`: a shard does not look at the map that a send goes by.
 * - `purgesAllButOne`: a purge leaves shard 1 out.
 * - `forgetsParts`: after its restart shard 0 does not hear which parts of the limits it had lent.
 * - `lendsTwice`: the answer of shard 0 has twice the units that it counts.
 * - `lendsToTwo`: shard 0 lends only to itself and to shards 1 and 2.
 * - `losesDelays`: delayed messages of a draining shard are made due.
 * - `dropsFullShards`: a draining shard answers that it is empty.
 * - `keepsDeleted`: an object drops nothing of a deleted queue.
 * - `forgetsTheMap`: shard 0 does not store the map that it answers with.
 * - `passesOnTwice`: a transfer that shard 0 passes on is made twice.
 * - `mistakesTokens`: receipts and lease ids go to the shard before theirs.
 * - `pausesAllButOne`: only shard 0 hears that delivery is paused.
 * - `countsAllButOne`: shard 1 answers that it has no message.
 * - `neverMovesOn`: the error of an overloaded shard does not say that it is overloaded.
 * - `refusesWithoutMap`: shard 0 refuses callers without a map.
 * - `neverMoved`: every shard answers that it holds a group of another shard.
 */
export type ShardBug =
  | "forgetsAShard"
  | "skipsFormerOwner"
  | "movesTooEarly"
  | "storesByOldMaps"
  | "purgesAllButOne"
  | "forgetsParts"
  | "lendsTwice"
  | "lendsToTwo"
  | "losesDelays"
  | "dropsFullShards"
  | "keepsDeleted"
  | "forgetsTheMap"
  | "passesOnTwice"
  | "mistakesTokens"
  | "pausesAllButOne"
  | "countsAllButOne"
  | "neverMovesOn"
  | "refusesWithoutMap"
  | "neverMoved";

/**
 * - `followsTheSystem`: queues go by the machine's clock, wherever it is set.
 * - `forgetsWhereItStood`: a new process begins with the machine's clock.
 */
export type ClockBug = "followsTheSystem" | "forgetsWhereItStood";

type MakeBug<Part extends keyof PlantedBug> = (
  property: string,
  name: string,
  change: NonNullable<PlantedBug[Part]>,
) => PlantedBug;

export const inCore: MakeBug<"changeCore"> = (property, name, changeCore) => ({ property, name, changeCore });
export const inStore: MakeBug<"changeStore"> = (property, name, changeStore) => ({
  property,
  name,
  changeStore,
});
export const inPorts: MakeBug<"wrapPorts"> = (property, name, wrapPorts) => ({ property, name, wrapPorts });
export const atEndpoint: MakeBug<"wrapEndpoint"> = (property, name, wrapEndpoint) => ({
  property,
  name,
  wrapEndpoint,
});
export const inShards = (property: string, name: string, shards: ShardBug | null): PlantedBug => ({
  property,
  name,
  ...(shards && { shards }),
});
export const inDirectory: MakeBug<"directory"> = (property, name, directory) => ({
  property,
  name,
  directory,
});
