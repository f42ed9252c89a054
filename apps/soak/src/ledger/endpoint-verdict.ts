import type { EndpointOutcome } from "@sluice/broker/testing";
import type { HttpPushFormat } from "@sluice/protocol";
import type { Challenge } from "../actors/endpoint-authorization.ts";
import type { AnswerVerdict } from "./delivery-record.ts";

/** An answer with a status, and what it asks for in `Retry-After`. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** What that means: a delay, or a moment; `null` for nothing that can be read. */
  readonly wait: { readonly kind: "delay" | "until"; readonly ms: number } | null;
  /** What a 401 asks for; absent of other answers. */
  readonly challenge?: Challenge;
}

/** What came of a request, with what an answer's headers mean. */
export type Outcome =
  | { readonly kind: "answered"; readonly answer: Answer }
  | Exclude<EndpointOutcome, { readonly kind: "answered" }>;

/** What a queue wants to know of its endpoint for a verdict. */
interface Circumstances {
  readonly nowMs: number;
  /** Delay of a retry that names none, in ms. */
  readonly unnamedDelayMs: number;
  /** Whether it was the one request with which an endpoint that is back has to prove itself. */
  readonly trial: "yes" | "no" | "unclear";
}

/**
 * What a queue has to do about the message of a request (spec sqsd 10, sns-delivery 6.2). Not of the worker daemon:
 * that has receipts.
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
