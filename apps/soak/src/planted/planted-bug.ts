import type { EndpointPort, QueueCore, QueuePorts } from "@sluice/broker/testing";
import type { Property } from "../checkers/checker.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/**
 * A mistake that is made on purpose, to see that the simulator finds it. It gets into the queue through its ports, or by
 * replacing parts of a core that has just started; the sources stay as they are.
 */
export interface PlantedBug {
  /** What is wrong, in a few words. */
  readonly name: string;
  /** What it breaks, and whose checker has to find it without the others. */
  readonly property: Property;
  /** Whether answers leave at once, whatever is durable. Default false. */
  readonly hasNoOutputGate?: boolean;
  /** A mistake of the directory, or of a queue that it tells what it is. */
  readonly directory?: DirectoryBug;
  wrapPorts?(ports: QueuePorts, queue: QueueObject): QueuePorts;
  /** The way to HTTP endpoints. */
  wrapEndpoint?(port: EndpointPort): EndpointPort;
  changeCore?(core: QueueCore, queue: QueueObject): void;
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
