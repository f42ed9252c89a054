import type { EndpointOutcome } from "@sluice/broker";
import type { HttpPushFormat } from "@sluice/protocol";
import type { AnswerVerdict } from "./delivery-record.ts";
import type { Challenge } from "./endpoint-authorization.ts";

/** An answer with a status, and what it asks for in `Retry-After`. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Meaning of `retryAfter`: a delay, or a moment; `null` if there is none that can be read. */
  readonly wait: { readonly kind: "delay" | "until"; readonly ms: number } | null;
  /** Challenge of a 401; absent from other answers. */
  readonly challenge?: Challenge;
}

/** Outcome of a request, with the meaning of an answer's headers. */
export type Outcome =
  | { readonly kind: "answered"; readonly answer: Answer }
  | Exclude<EndpointOutcome, { readonly kind: "answered" }>;

/** State of the queue and its endpoint that a verdict depends on. */
interface Circumstances {
  readonly nowMs: number;
  /** Delay of a retry for which the endpoint names none, in ms. */
  readonly unnamedDelayMs: number;
  /** Whether it was the trial: the one request with which an endpoint that is back has to prove itself. */
  readonly trial: "yes" | "no" | "unclear";
}

/**
 * Answers with the verdict that a queue has to carry out on the message of a request (spec sqsd 10, sns-delivery 6.2).
 * Not for the worker daemon: that has receipts.
 */
export function verdictOf(
  format: Exclude<HttpPushFormat, "sqsd">,
  outcome: Outcome,
  circumstances: Circumstances,
): AnswerVerdict {
  const retry: AnswerVerdict = { kind: "retry", delayMs: circumstances.unnamedDelayMs };
  if (outcome.kind === "answered") {
    const { status } = outcome.answer;
    if (status >= 200 && status < 300) return { kind: "ack" };
    if (format === "sns") return status === 429 || status >= 500 ? retry : { kind: "giveUp" };
    return { kind: "retry", delayMs: waitOf(outcome.answer, circumstances) };
  }
  if (format === "sns" || outcome.kind !== "unreachable" || circumstances.trial === "yes") return retry;
  return circumstances.trial === "no" ? { kind: "release" } : { ...retry, kind: "releaseOrRetry" };
}

function waitOf({ wait }: Answer, { nowMs, unnamedDelayMs }: Circumstances): number {
  if (wait === null) return unnamedDelayMs;
  if (wait.kind === "delay") return wait.ms;
  return Math.max(0, 1_000 * Math.ceil((wait.ms - nowMs) / 1_000));
}
