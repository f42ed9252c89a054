import { get as getByHttp } from "node:http";
import { get as getByHttps } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type QueueTopology, topologyFingerprint } from "@sluice/protocol";
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
    void ask(`${url}${SLUICE_PATH}/api/queues`, topology, this.#asking.signal);
  }

  stop(): void {
    this.#asking.abort();
  }
}

async function ask(url: string, topology: QueueTopology, signal: AbortSignal): Promise<void> {
  const expected = await topologyFingerprint(topology);
  for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt++) {
    if ((await deployedBy(url, signal)) === expected) return;
    await sleep(ATTEMPT_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Fingerprint of the topology that the broker goes by, after it has asked every queue; `null` while it does not answer. */
async function deployedBy(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const { deployed } = JSON.parse(await read(url, signal)) as { deployed: string };
    return deployed;
  } catch {
    return null;
  }
}

/** Not by `fetch`: with `--local-protocol https` Wrangler signs its certificate itself. */
function read(url: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith("https:");
    const request = isSecure
      ? getByHttps(url, { signal, rejectUnauthorized: false }, (response) => resolve(text(response)))
      : getByHttp(url, { signal }, (response) => resolve(text(response)));
    request.on("error", reject);
  });
}
