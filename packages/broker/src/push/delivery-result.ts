import type { Lease } from "@sluice/engine";
import {
  type Delivery,
  type DeliveryReply,
  type DeliveryResult,
  type HandlerCalls,
  NO_CALLS,
  type QueueConsumerRpc,
  REFUSED,
} from "@sluice/protocol";
import { Absence } from "./absence.ts";

/** Result of a delivery that no other attempt can help: its messages are dead at once. */
export interface RejectedDelivery {
  /** For the log. */
  readonly rejected: string;
}

/** The result of a delivery that went well. */
export function ackedResult(): DeliveryResult {
  return { outcome: "ok", ...NO_CALLS };
}

/**
 * The result of a delivery that brought none: its handler crashed, or its isolate was taken away. Counts as a failure.
 */
export function failedResult(reason: string): DeliveryResult {
  return { outcome: "exception", ...NO_CALLS, error: reason };
}

/** The result of a handler that was ended, with what it had called until then as far as its consumer still knows. */
export function interruptedResult(outcome: string, reason: string, calls: unknown): DeliveryResult {
  return { outcome, ...(areCalls(calls) ? calls : NO_CALLS), error: reason };
}

/**
 * Reads a consumer's answer: the result if it is one, a failure if it is not. The consumer is another Worker, deployed
 * at another time, and a result that cannot be settled would keep its messages leased and its slot taken.
 */
export function readResult(answer: unknown): DeliveryResult | RejectedDelivery | Absence {
  if (answer === ("acknowledged" satisfies DeliveryReply)) return ackedResult();
  if (isRejected(answer)) return { rejected: answer.rejected };
  if (!isResult(answer))
    return failedResult("the consumer answered with something that is no delivery result");
  return answer.outcome === REFUSED ? new Absence("refuses", answer.error ?? "") : answer;
}

function isResult(answer: unknown): answer is DeliveryResult {
  return isObject(answer) && typeof answer.outcome === "string" && areCalls(answer);
}

function isRejected(answer: unknown): answer is RejectedDelivery {
  return isObject(answer) && typeof answer.rejected === "string";
}

function areCalls(answer: unknown): answer is HandlerCalls {
  if (!isObject(answer)) return false;
  const { ackAll, retryBatch, explicitAcks, retryMessages } = answer;
  return (
    typeof ackAll === "boolean" &&
    isObject(retryBatch) &&
    typeof retryBatch.retry === "boolean" &&
    isDelay(retryBatch.delaySeconds) &&
    Array.isArray(explicitAcks) &&
    Array.isArray(retryMessages) &&
    retryMessages.every((retry: unknown) => isObject(retry) && isDelay(retry.delaySeconds))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isDelay(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && Number.isFinite(value));
}

/** A consumer as the dispatcher sees it. `callsOf` and `ping` reject when its Worker is not there. */
export interface ConsumerPort extends Pick<QueueConsumerRpc, "callsOf"> {
  deliver(delivery: Delivery): Promise<DeliveryReply | RejectedDelivery>;
  /** For log lines. */
  readonly name: string;
  /**
   * Whether a message may be what ends it. Then one that is back gets one delivery at a time until one has a result,
   * and that it is gone again by then counts as a failure of that delivery. Default false.
   */
  readonly returnsOnTrial?: boolean;
  ping(): Promise<unknown>;
}

/** A delivery from its lease to its settlement. */
export interface Running {
  readonly batch: Lease;
  readonly consumer: ConsumerPort;
  readonly delivery: Delivery;
  readonly startedMs: number;
  /**
   * How often the consumer had said that it is back when the delivery was taken: what the call tells is older than the
   * next.
   */
  readonly returns: number;
  /** Whether its handler has had its time: its consumer is being asked what it did until then. */
  isOverdue: boolean;
}
