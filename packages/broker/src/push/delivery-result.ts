import type { Lease } from "@sluice/engine";
import {
  type Delivery,
  type DeliveryLogs,
  type DeliveryReply,
  type DeliveryResult,
  type HandlerCalls,
  LOG_LEVELS,
  LOG_LINE_UNITS_MAX,
  LOG_LINES_MAX,
  LOG_UNITS_MAX,
  NO_CALLS,
  type QueueConsumerRpc,
  REFUSED,
} from "@sluice/protocol";
import { Absence } from "./absence.ts";
import type { DeliveryRecord } from "./consumer-health.ts";

/** Longest time between the beginning of a delivery and a line, in ms, as clocks can be set: 30 years. */
const LOG_AFTER_MS_MAX = 1e12;

/** Result of a delivery whose messages are dead at once, since no other attempt can help. */
export interface RejectedDelivery {
  /** Reason, for the log. */
  readonly rejected: string;
}

/** Makes the result of a successful delivery. */
export function ackedResult(): DeliveryResult {
  return { outcome: "ok", ...NO_CALLS };
}

/** Makes the result of a delivery without one: its handler crashed, or its isolate ended. It counts as a failure. */
export function failedResult(reason: string): DeliveryResult {
  return { outcome: "exception", ...NO_CALLS, error: reason };
}

/** Makes the result of a handler that was ended. @param calls made until then, as far as its consumer knows them. */
export function interruptedResult(outcome: string, reason: string, calls: unknown): DeliveryResult {
  return withReadableLogs({ outcome, ...(areCalls(calls) ? calls : NO_CALLS), error: reason });
}

/**
 * Reads a consumer's answer, as a failure if it is no result. The consumer is another Worker, deployed at another time,
 * and a result that cannot be settled would keep its messages leased and its slot taken.
 */
export function readResult(answer: unknown): DeliveryResult | RejectedDelivery | Absence {
  if (answer === ("acknowledged" satisfies DeliveryReply)) return ackedResult();
  if (isRejected(answer)) return { rejected: answer.rejected };
  if (!isResult(answer))
    return failedResult("the consumer answered with something that is no delivery result");
  return answer.outcome === REFUSED ? new Absence("refuses", answer.error ?? "") : withReadableLogs(answer);
}

/** Takes away logs that are none, or more than a consumer sends: another version may have made them. */
function withReadableLogs(result: DeliveryResult): DeliveryResult {
  if (result.logs === undefined || areLogs(result.logs)) return result;
  const { logs: _, ...others } = result;
  return others;
}

function areLogs(logs: unknown): logs is DeliveryLogs {
  if (!isObject(logs) || !Array.isArray(logs.lines)) return false;
  const { lines, leftOut = 0, mixed = 0 } = logs;
  const texts = (lines as unknown[]).map((line) => (isLogLine(line) ? line.text : null));
  const units = texts.reduce((sum, text) => sum + (text?.length ?? Infinity), 0);
  // The last error comes on top.
  const isSmall = lines.length <= LOG_LINES_MAX + 1 && units <= LOG_UNITS_MAX + LOG_LINE_UNITS_MAX;
  return isSmall && typeof leftOut === "number" && typeof mixed === "number";
}

function isLogLine(line: unknown): line is { readonly text: string } {
  if (!isObject(line)) return false;
  const { afterMs, level, text } = line;
  const isTime = typeof afterMs === "number" && afterMs >= 0 && afterMs <= LOG_AFTER_MS_MAX;
  return isTime && LOG_LEVELS.some((each) => each === level) && typeof text === "string";
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

/** Port of the dispatcher to a consumer. `callsOf` and `ping` reject when its Worker is not there. */
export interface ConsumerPort extends Pick<QueueConsumerRpc, "callsOf"> {
  deliver(delivery: Delivery): Promise<DeliveryReply | RejectedDelivery>;
  /** Name for log lines. */
  readonly name: string;
  /**
   * Whether a message may crash it. Then it gets one delivery at a time once it is back, until one has a result.
   * Another crash counts as a failure of that delivery. Default false.
   */
  readonly returnsOnTrial?: boolean;
  ping(): Promise<unknown>;
}

/** Delivery from its lease to its settlement. */
export interface Running {
  readonly batch: Lease;
  readonly consumer: ConsumerPort;
  readonly delivery: Delivery;
  readonly startedMs: number;
  /** Returns of the consumer before the delivery. An absence that it finds is outdated by a later return. */
  readonly returns: number;
  /** Record that its end is noted in: that of its consumer. */
  readonly record: DeliveryRecord;
  /** Whether its handler took too long, and its consumer is asked for the calls until then. */
  isOverdue: boolean;
}
