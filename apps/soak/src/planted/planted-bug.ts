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
  wrapPorts?(ports: QueuePorts, queue: QueueObject): QueuePorts;
  /** The way to HTTP endpoints. */
  wrapEndpoint?(port: EndpointPort): EndpointPort;
  changeCore?(core: QueueCore, queue: QueueObject): void;
}
