import type { EndpointOutcome, EndpointRequest } from "@sluice/broker";
import type { Delivery, DeliveryResult, HandlerCalls, HttpPushFormat } from "@sluice/protocol";
import type { Epoch } from "./epoch.ts";

/** The Worker that a queue pushes to, as one epoch of the queue calls it. */
export interface CalledWorker {
  /** Time until which the Worker is away, in ms. */
  absentUntilMs: number;
  deliver(epoch: Epoch, delivery: Delivery): Promise<DeliveryResult>;
  callsOf(epoch: Epoch, deliveryId: string): Promise<HandlerCalls | null>;
  nextProbe(epoch: Epoch): number;
  ping(epoch: Epoch, probe: number): Promise<void>;
}

/** The HTTP endpoint of a queue, as one epoch of the queue calls it. */
export interface CalledEndpoint {
  /** Time until which the endpoint takes no connections, in ms. */
  absentUntilMs: number;
  readonly format: HttpPushFormat;
  post(epoch: Epoch, request: EndpointRequest, calledMs: number): Promise<EndpointOutcome>;
  isReady(epoch: Epoch, probe: number, timeoutMs: number): Promise<boolean>;
}
