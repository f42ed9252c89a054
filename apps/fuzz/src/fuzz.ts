import fc from "fast-check";
import { KeptMessages } from "./kept-messages.ts";
import { fillText, type Known } from "./placeholders.ts";
import { type ActionRequest, anyRequest, type FuzzRequest, protocolOf, toHttp } from "./requests.ts";
import { type Target, Unsendable } from "./target.ts";
import { QUEUES } from "./values.ts";
import { wrongWith } from "./verdict.ts";

/** Number of requests between two messages that have to arrive. */
const KEPT_EVERY = 5;
/** Most receipt handles, and most tasks, that are kept for later requests. */
const KNOWN_MAX = 40;

export interface FuzzOptions {
  readonly seed: number;
  /** Number of generated requests. */
  readonly requests: number;
}

/** Report of a run without a failure. */
interface FuzzReport {
  /** Number of answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Actions that succeeded at least once. */
  readonly succeeded: readonly string[];
  /** Number of messages that were sent in between, all of which arrived. */
  readonly kept: number;
}

/**
 * Sends requests to a target, which has to answer each in time, without a 5xx and in AWS's form. Sends messages in
 * between, which all have to arrive. Throws with the seed and the smallest request that fails.
 */
export async function fuzz(target: Target, { seed, requests }: FuzzOptions): Promise<FuzzReport> {
  const messages = new KeptMessages(target);
  await messages.open(QUEUES);
  const receipts: { readonly handle: string; readonly queueUrl: string }[] = [];
  const tasks: string[] = [];
  const statuses: Record<string, number> = {};
  const succeeded = new Set<string>();
  let asked = 0;
  const known = { endpoint: target.endpoint, receipts, tasks };
  const property = fc.asyncProperty(anyRequest, async (request: FuzzRequest) => {
    const answer = await judged(target, request, known);
    if (answer === null) return;
    const { status, text } = answer;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (request.kind === "action") {
      if (status === 200) succeeded.add(request.action);
      const queueUrl = queueUrlOf(request, known);
      remember(
        receipts,
        valuesIn(text, "ReceiptHandle").map((handle) => ({ handle, queueUrl })),
      );
      remember(tasks, valuesIn(text, "TaskHandle"));
    }
    asked += 1;
    if (asked % KEPT_EVERY === 0) await messages.send();
  });
  await fc.assert(property, { seed, numRuns: requests });
  const kept = await messages.close();
  return { statuses, succeeded: [...succeeded].sort(), kept };
}

/** Sends requests without a key to a target that refuses them. Resolves to the number of answers by status. */
export async function fuzzStrangers(
  target: Target,
  { seed, requests }: FuzzOptions,
): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {};
  const property = fc.asyncProperty(anyRequest, async (request: FuzzRequest) => {
    const answer = await judged(target, request, { endpoint: target.endpoint, receipts: [], tasks: [] });
    if (answer !== null) statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
  });
  await fc.assert(property, { seed, numRuns: requests });
  return statuses;
}

/** Length of a request's head above which workerd may refuse it without calling the Worker. */
const PLATFORM_HEAD_LENGTH_MAX = 500_000;

/** Sends a request, and resolves to its answer; `null` if it cannot be sent. Throws if the answer is wrong. */
async function judged(
  target: Target,
  request: FuzzRequest,
  known: Known,
): Promise<{ readonly status: number; readonly text: string } | null> {
  const http = toHttp(request, known);
  if (http === null) return null;
  const { method } = http;
  const answer = await target.fetch(http).catch((error: unknown) => {
    if (error instanceof Unsendable) return null;
    throw error;
  });
  if (answer === null) return null;
  const text = await answer.text();
  const { status, headers } = answer;
  // The runtime has refused headers that are too long for it, before the gateway.
  if (status === 431 && headLengthOf(http) > PLATFORM_HEAD_LENGTH_MAX) return { status, text };
  const wrong = wrongWith({ method, protocol: protocolOf(request), status, headers, text });
  if (wrong !== null) throw new Error(`${wrong}: ${text.slice(0, 500)}`);
  return { status, text };
}

function headLengthOf({ url, headers }: Request): number {
  return [...headers].flat().reduce((length, part) => length + part.length, url.length);
}

function queueUrlOf({ input }: ActionRequest, known: Known): string {
  const { QueueUrl = "" } = input as { readonly QueueUrl?: unknown };
  return typeof QueueUrl === "string" ? fillText(QueueUrl, known) : "";
}

/** Finds the values of a member in an answer of either protocol. */
function valuesIn(text: string, member: string): string[] {
  return [...text.matchAll(new RegExp(`"?${member}"?[:>]"?([^"<]+)`, "g"))].flatMap(
    ([, value]) => value ?? [],
  );
}

/** Adds values, and drops the oldest beyond `KNOWN_MAX`. */
function remember<Value>(known: Value[], found: readonly Value[]): void {
  known.push(...found);
  known.splice(0, known.length - KNOWN_MAX);
}
