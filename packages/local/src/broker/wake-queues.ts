import { setTimeout as sleep } from "node:timers/promises";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { type QueueTopology, topologyFingerprint } from "@sluice/protocol";
import { callBroker } from "./call-broker.ts";
import { fetchHere } from "./fetch-here.ts";

/** 10 s in all: Wrangler takes about a second to reload, and has failed to build if it takes longer than that. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 500;

/**
 * Lists the broker's queues until the broker has the new topology. The listing calls each queue's Durable Object, which
 * starts it, and its deliveries go on. The directory starts only the queues that the topology changes. Nothing else
 * would start the others after a start or reload of the broker.
 */
export class QueueWaker {
  #asking = new AbortController();

  /**
   * Starts to wake the queues of a topology. A wake for an earlier topology ends.
   *
   * @param url URL of the primary Worker.
   * @param headers headers that authorize the call of the admin API.
   */
  wake(url: string, topology: QueueTopology, headers: Readonly<Record<string, string>> = {}): void {
    this.stop();
    this.#asking = new AbortController();
    void ask(url, topology, { headers, signal: this.#asking.signal });
  }

  stop(): void {
    this.#asking.abort();
  }
}

interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

async function ask(url: string, topology: QueueTopology, asking: Asking): Promise<void> {
  const { signal } = asking;
  const expected = await topologyFingerprint(topology);
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    if ((await deployedBy(url, asking)) === expected) return;
    await sleep(ATTEMPT_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Has the broker call every queue, and returns the fingerprint of its topology; `null` while it does not answer. */
async function deployedBy(url: string, asking: Asking): Promise<string | null> {
  try {
    const response = await callBroker(url, { path: `${SLUICE_PATH}/api/queues`, ...asking }, fetchHere);
    return response.ok ? ((await response.json()) as { deployed: string }).deployed : null;
  } catch {
    return null;
  }
}
