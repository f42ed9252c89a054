import { get as getByHttp } from "node:http";
import { get as getByHttps } from "node:https";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { type QueueTopology, topologyFingerprint } from "@sluice/protocol";

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
   * @param headers what the admin API wants of who asks.
   */
  wake(url: string, topology: QueueTopology, headers: Readonly<Record<string, string>> = {}): void {
    this.stop();
    this.#asking = new AbortController();
    void ask(`${url}${SLUICE_PATH}/api/queues`, topology, { headers, signal: this.#asking.signal });
  }

  stop(): void {
    this.#asking.abort();
  }
}

/** How requests are made. */
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
 * Fingerprint of the topology that the broker goes by, after it has asked every queue; `null` while it does not answer.
 */
async function deployedBy(url: string, asking: Asking): Promise<string | null> {
  try {
    const { deployed } = JSON.parse(await read(url, asking)) as { deployed: string };
    return deployed;
  } catch {
    return null;
  }
}

/** Not by `fetch`: with `--local-protocol https` Wrangler signs its certificate itself. */
function read(url: string, asking: Asking): Promise<string> {
  return new Promise((resolve, reject) => {
    const isSecure = url.startsWith("https:");
    const request = isSecure
      ? getByHttps(url, { ...asking, rejectUnauthorized: false }, (response) => resolve(text(response)))
      : getByHttp(url, asking, (response) => resolve(text(response)));
    request.on("error", reject);
  });
}
