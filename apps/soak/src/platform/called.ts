import type { EndpointOutcome, EndpointRequest } from "@sluice/broker/testing";
import type { Delivery, DeliveryResult, HandlerCalls, HttpPushFormat } from "@sluice/protocol";
import type { Epoch } from "./epoch.ts";

/**
 * The Worker that a queue pushes to, as one epoch of the queue calls it. Of `done` and `failed` at most one is called.
 */
export interface CalledWorker {
  /** Until when it does not run, in ms. */
  absentUntilMs: number;
  deliver(
    epoch: Epoch,
    delivery: Delivery,
    done: (result: DeliveryResult) => void,
    failed: (error: unknown) => void,
  ): void;
  callsOf(
    epoch: Epoch,
    deliveryId: string,
    done: (calls: HandlerCalls | null) => void,
    failed: (error: unknown) => void,
  ): void;
  nextProbe(epoch: Epoch): number;
  ping(epoch: Epoch, probe: number, done: () => void, failed: (error: unknown) => void): void;
}

/** The HTTP endpoint of a queue, as one epoch of the queue calls it. */
export interface CalledEndpoint {
  /** Until when nobody answers there, in ms. */
  absentUntilMs: number;
  readonly format: HttpPushFormat;
  post(
    epoch: Epoch,
    request: EndpointRequest,
    calledMs: number,
    done: (outcome: EndpointOutcome) => void,
  ): void;
  isReady(epoch: Epoch, probe: number, timeoutMs: number, done: (isReady: boolean) => void): void;
}
