import path from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@sluice/protocol/test/workerd-process";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { onTestFinished } from "vitest";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** A consumer Worker that acknowledges everything. */
const CONSUMER = `
import { WorkerEntrypoint } from "cloudflare:workers";
export class SluiceQueueConsumer extends WorkerEntrypoint {
  async deliver() {
    return { outcome: "ok", ackAll: false, retryBatch: { retry: false }, explicitAcks: [], retryMessages: [] };
  }
  async callsOf() { return null; }
  async ping() { return "pong"; }
}
export default { fetch: () => new Response("consumer") };
`;

export interface BrokerWorkerOptions {
  /** Takes the function that ends the broker. Default: `onTestFinished`; a file that shares a broker has its own. */
  readonly disposeWith?: (dispose: () => Promise<void>) => void;
  /** Folder of all data. Default: memory. */
  readonly persistDir?: string;
  /** Bytes of the dashboard's page, which the entry then imports as `./page.bin`. */
  readonly page?: Uint8Array;
  /** Source of the consumer Worker. Default: one that acknowledges everything. */
  readonly consumer?: string;
}

/** Starts the broker Worker of an entry in real workerd, with a consumer Worker bound as `CONSUMER`. */
export async function startBrokerWorker(
  entry: string,
  bindings: Record<string, string>,
  { disposeWith = onTestFinished, persistDir, page, consumer }: BrokerWorkerOptions = {},
): Promise<Miniflare> {
  const mf = new Miniflare(
    convertV4MiniflareOptions({
      ...(persistDir === undefined ? {} : { resourcePersistencePath: persistDir }),
      workers: [
        {
          name: "broker",
          compatibilityDate: "2026-01-01",
          compatibilityFlags: ["enable_request_signal"],
          modules: [
            { type: "ESModule", path: "broker.js", contents: await bundle(entry, ROOT) },
            ...(page === undefined ? [] : [{ type: "Data", path: "page.bin", contents: page }]),
          ],
          durableObjects: {
            SLUICE_QUEUES: { className: "QueueBroker", useSQLite: true },
            SLUICE_DIRECTORY: { className: "Directory", useSQLite: true },
          },
          serviceBindings: { CONSUMER: { name: "consumer", entrypoint: "SluiceQueueConsumer" } },
          bindings,
        },
        {
          name: "consumer",
          compatibilityDate: "2026-01-01",
          modules: [
            {
              type: "ESModule",
              path: "consumer.js",
              contents: consumer === undefined ? CONSUMER : await bundle(consumer, ROOT),
            },
          ],
        },
      ],
    } as Parameters<typeof convertV4MiniflareOptions>[0]),
  );
  disposeWith(() => mf.dispose());
  await mf.ready;
  return mf;
}
