import type { EndpointPort, QueueCore, QueuePorts } from "@sluice/broker/testing";
import type { CalledWorker } from "../platform/called.ts";
import type { Disk } from "../platform/disk.ts";
import type { Epoch } from "../platform/epoch.ts";

/** Parts of a queue that a mistake in it may look at. */
export interface AfflictedQueue {
  readonly isTopic: boolean;
  readonly disk: Disk;
  readonly epoch: Epoch | null;
  /** How many epochs it has had. */
  readonly epochs: number;
  readonly consumer: CalledWorker | null;
  /** `null` unless a directory says what it is. */
  readonly registered: object | null;
  /** `null` unless it was deleted. */
  readonly gone: object | null;
}

/**
 * A mistake that is made on purpose, to see that the simulator finds it. It gets into the queue through its ports, or
 * by replacing parts of a core that has just started; the sources stay as they are.
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
  wrapPorts?(ports: QueuePorts, queue: AfflictedQueue): QueuePorts;
  /** The way to HTTP endpoints. */
  wrapEndpoint?(port: EndpointPort): EndpointPort;
  changeCore?(core: QueueCore, queue: AfflictedQueue): void;
}

/**
 * - `tellsOnce`: who could not be told counts as told.
 * - `tellsNobody`: who is to be told counts as told.
 * - `forgetsDeletions`: that a queue was deleted is not stored.
 * - `confirmsUnstored`: a queue confirms what it is told before that is stored.
 * - `keepsDeleted`: a queue goes on with what a deleted one has left.
 * - `dropsAlways`: a queue drops what it holds whenever it is changed.
 * - `goesBack`: a queue goes by whatever it was told last.
 */
export type DirectoryBug =
  | "tellsOnce"
  | "tellsNobody"
  | "forgetsDeletions"
  | "confirmsUnstored"
  | "keepsDeleted"
  | "dropsAlways"
  | "goesBack";

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
export const inPorts: Makes<"wrapPorts"> = (property, name, wrapPorts) => ({ property, name, wrapPorts });
export const atEndpoint: Makes<"wrapEndpoint"> = (property, name, wrapEndpoint) => ({
  property,
  name,
  wrapEndpoint,
});
export const inDirectory: Makes<"directory"> = (property, name, directory) => ({
  property,
  name,
  directory,
});
