import { setTimeout as sleep } from "node:timers/promises";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import type { DrainReply, QueueTopology } from "@sluice/protocol";
import type { Printer } from "../report/printer.ts";
import { callBroker } from "./call-broker.ts";

/** Longest wait for unanswered requests, in ms: that of Elastic Beanstalk's daemon (spec sqsd 2.2). */
const DRAIN_MS_MAX = 600_000;
const ASK_EVERY_MS = 200;
const ANSWER_MS_MAX = 5_000;

interface DrainInput {
  /** Where the broker answers, without a slash at its end. */
  readonly url: string;
  /** Headers by which its admin API admits this process. */
  readonly headers: Readonly<Record<string, string>>;
  readonly topology: QueueTopology;
  readonly printer: Printer;
  /** Ends the waiting at once. */
  readonly signal: AbortSignal;
}

/**
 * Stops worker daemons from posting more messages. Resolves when all requests that they have posted are answered, at
 * the latest after ten minutes (spec sqsd 5, S11). Prints how many it waits for. Never rejects: an unfinished message
 * comes back when its visibility timeout ends.
 */
export async function drain({ url, headers, topology, printer, signal }: DrainInput): Promise<void> {
  const queues = Object.entries(topology.queues).flatMap(([name, { consumer }]) =>
    consumer?.type === "http_push" && consumer.settings.daemon !== undefined ? name : [],
  );
  if (queues.length === 0) return;
  const requestsOf = async (queue: string) => {
    const path = `${SLUICE_PATH}/api/queues/${encodeURIComponent(queue)}/drain`;
    const soon = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
    const response = await callBroker(url, { method: "POST", path, headers, signal: soon });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    return ((await response.json()) as DrainReply).requests;
  };
  try {
    const endMs = Date.now() + DRAIN_MS_MAX;
    for (let isFirst = true; Date.now() < endMs; isFirst = false) {
      const requests = (await Promise.all(queues.map(requestsOf))).reduce((sum, count) => sum + count, 0);
      if (requests === 0) return;
      if (isFirst) {
        printer.print(
          `drain   waiting for ${requests} request(s) to be answered; stop once more to leave them unfinished`,
        );
      }
      await sleep(ASK_EVERY_MS, undefined, { signal });
    }
    printer.warn("drain: requests are still not answered after ten minutes; they are left unfinished.");
  } catch (error) {
    if (signal.aborted) return;
    printer.warn(`drain: the broker cannot be asked what it is doing: ${error}. It is stopped as it is.`);
  }
}
