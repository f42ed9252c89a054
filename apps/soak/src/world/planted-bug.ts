import type { EndpointPort } from "@sluice/broker";
import type { QueueCore, QueuePorts, Registration, SqliteStore } from "@sluice/broker/testing";
import type { Delivery, DeliveryResult, LastEnd } from "@sluice/protocol";

/** Parts of a queue that a mistake in it may look at. */
export interface AfflictedQueue {
  readonly isTopic: boolean;
  /** How many epochs it has had. */
  readonly epochs: number;
  /** How the one before has ended, as it was told. */
  readonly endTold: LastEnd;
  /** The Worker that it pushes to, called without a wait for what is not durable; `null` if there is none. */
  readonly deliverAtOnce: ((delivery: Delivery) => Promise<DeliveryResult>) | null;
  /** `null` unless a directory says what it is. */
  readonly registered: object | null;
  /** `null` unless it was deleted. */
  readonly gone: object | null;
}

/**
 * A mistake that is made on purpose, to see that the simulator finds it. It gets into a queue by way of the broker's
 * `Instruments`, into the rest by way of the simulated host; the sources stay as they are.
 */
export interface PlantedBug {
  /** Description of the mistake, in a few words. */
  readonly name: string;
  /** Property that it breaks, whose checker has to find it without the others. */
  readonly property: string;
  /** A mistake of the directory, or of a queue that it tells what it is. */
  readonly directory?: DirectoryBug;
  /** A mistake of the clock that all queues go by. */
  readonly clock?: ClockBug;
  /** A mistake of a queue with shards. */
  readonly shards?: ShardBug;
  /** Whether the host lets answers and calls out of a queue's object before what was written is durable. */
  readonly gateIsOpen?: boolean;
  changeStore?(store: SqliteStore, queue: AfflictedQueue): void;
  changeRegistration?(registration: Registration): void;
  wrapPorts?(ports: QueuePorts, queue: AfflictedQueue): QueuePorts;
  /** The way to HTTP endpoints. */
  wrapEndpoint?(port: EndpointPort): EndpointPort;
  changeCore?(core: QueueCore, queue: AfflictedQueue): void;
}

/**
 * - `tellsOnce`: who could not be told counts as told.
 * - `tellsNobody`: who is to be told counts as told.
 * - `forgetsDeletions`: that a queue was deleted is not stored.
 * - `dropsAlways`: a queue drops what it holds whenever it is changed.
 */
export type DirectoryBug = "tellsOnce" | "tellsNobody" | "forgetsDeletions" | "dropsAlways";

/**
 * - `forgetsAShard`: a receive takes shard 1 to be empty.
 * - `skipsFormerOwner`: a map has no `before` for who sends.
 * - `movesTooEarly`: every shard says that it holds no group of another one.
 * - `storesByOldMaps`: a shard does not look at the map that a send goes by.
 * - `purgesAllButOne`: a purge leaves shard 1 out.
 * - `forgetsParts`: no shard says to shard 0, which has begun anew, what it had lent.
 * - `lendsTwice`: the answer of shard 0 has twice the units that it counts.
 * - `lendsToTwo`: shard 0 lends itself and shards 1 and 2 alone.
 * - `losesDelays`: what waits in a draining shard is made due.
 * - `dropsFullShards`: a draining shard says that it is empty.
 * - `keepsDeleted`: an object drops nothing of a deleted queue.
 * - `forgetsTheMap`: shard 0 does not store the map that it tells.
 * - `passesOnTwice`: what shard 0 passes on is transferred twice.
 * - `mistakesTokens`: receipts and lease ids go to the shard before theirs.
 * - `pausesAllButOne`: shards other than the first do not hear that delivery is paused.
 * - `countsAllButOne`: shard 1 says that it has no message.
 * - `neverMovesOn`: what is overloaded does not say so.
 * - `refusesWithoutMap`: shard 0 refuses who knows no map.
 * - `neverMoved`: every shard says that it holds a group of another one.
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
 * - `followsTheSystem`: the machine's own clock.
 * - `forgetsWhereItStood`: a process begins with the machine's clock.
 */
export type ClockBug = "followsTheSystem" | "forgetsWhereItStood";

type Makes<Part extends keyof PlantedBug> = (
  property: string,
  name: string,
  change: NonNullable<PlantedBug[Part]>,
) => PlantedBug;

export const inCore: Makes<"changeCore"> = (property, name, changeCore) => ({ property, name, changeCore });
export const inStore: Makes<"changeStore"> = (property, name, changeStore) => ({
  property,
  name,
  changeStore,
});
export const inPorts: Makes<"wrapPorts"> = (property, name, wrapPorts) => ({ property, name, wrapPorts });
export const atEndpoint: Makes<"wrapEndpoint"> = (property, name, wrapEndpoint) => ({
  property,
  name,
  wrapEndpoint,
});
export const inShards = (property: string, name: string, shards: ShardBug | null): PlantedBug => ({
  property,
  name,
  ...(shards && { shards }),
});
export const inDirectory: Makes<"directory"> = (property, name, directory) => ({ property, name, directory });
