import { setTimeout as sleep } from "node:timers/promises";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { type QueueTopology, topologyFingerprint } from "@sluice/protocol";
import { callBroker } from "./call-broker.ts";
import { fetchHere } from "./fetch-here.ts";

/** Wrangler takes about a second to reload. If it has not after 10 s, its build has failed. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 500;

/**
 * Asks the broker about every queue until the broker goes by the new topology. A queue's Durable Object that is asked
 * goes on with what it holds. The directory starts those of queues that the topology changes; nothing else would start
 * the others, which a broker that has just been started or reloaded has not called yet.
 */
export class QueueWaker {
  #asking = new AbortController();

  /**
   * Starts to ask, and stops asking about any earlier topology.
   *
   * @param url of the primary Worker.
   * @param headers what the admin API wants of who asks.
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

/**
 * Reads the fingerprint of the topology that the broker goes by, after it has asked every queue; `null` while it lists
 * none.
 */
async function deployedBy(url: string, asking: Asking): Promise<string | null> {
  try {
    const response = await callBroker(url, { path: `${SLUICE_PATH}/api/queues`, ...asking }, fetchHere);
    return response.ok ? ((await response.json()) as { deployed: string }).deployed : null;
  } catch {
    return null;
  }
}
