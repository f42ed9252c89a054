import { setTimeout as sleep } from "node:timers/promises";
import type { QueueTopology } from "@sluice/protocol";
import { SLUICE_PATH } from "../runtime/front-door-contract.ts";

/** Wrangler takes about a second to reload; after this long it has something else to say. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 500;

/**
 * Asks the broker about every queue until it knows the topology. A queue's Durable Object that is asked goes on with
 * what it holds; nothing else would start it when a queue that held messages gets its first consumer.
 */
export class QueueWaker {
  #asking = new AbortController();

  /**
   * Starts to ask, and stops asking about any earlier topology.
   *
   * @param url of the primary Worker.
   */
  wake(url: string, topology: QueueTopology): void {
    this.stop();
    this.#asking = new AbortController();
    void ask(`${url}${SLUICE_PATH}/api/queues`, consumersOf(topology), this.#asking.signal);
  }

  stop(): void {
    this.#asking.abort();
  }
}

async function ask(url: string, expected: string, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    if ((await consumersBy(url, signal)) === expected) return;
    await sleep(ATTEMPT_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function consumersOf({ queues }: QueueTopology): string {
  return listing(
    Object.entries(queues).map(([name, { consumer }]) => [
      name,
      consumer?.type === "worker" ? consumer.worker : undefined,
    ]),
  );
}

/** The consumers by queue that the broker tells of; empty while it does not answer. */
async function consumersBy(url: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, { signal });
    const { queues } = (await response.json()) as {
      queues: { name: string; consumer: { worker?: string } | null }[];
    };
    return listing(queues.map(({ name, consumer }) => [name, consumer?.worker]));
  } catch {
    return "";
  }
}

function listing(consumers: readonly (readonly [queue: string, worker: string | undefined])[]): string {
  return JSON.stringify([...consumers].sort(([a], [b]) => (a < b ? -1 : 1)));
}
