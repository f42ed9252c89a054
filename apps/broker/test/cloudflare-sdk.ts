import Cloudflare from "cloudflare";
import type { Miniflare } from "miniflare";
import { startBrokerWorker } from "./broker-worker.ts";

export const account_id = "any-account";
export const NOBODY = "f".repeat(32);
export const RETENTION = 345_600;

export const ENTRY = `
import { defineBroker } from "./src/define-broker.ts";
export const queue = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345600, producers: [{ worker: "shop", binding: "A" }, { worker: "shop", binding: "B" }], consumer: null };
const { QueueBroker, Directory, handler } = defineBroker({ topology: { queues: { orders: queue } }, consumers: { mailer: "CONSUMER" } });
export { Directory, QueueBroker };
export default handler;
`;

export let broker: Miniflare;
export let client: Cloudflare;
export let queues: Cloudflare["queues"];
export let dispose: () => Promise<void>;

/** Before all tests of a file. */
export async function start(): Promise<void> {
  const disposeWith = (end: () => Promise<void>) => {
    dispose = end;
  };
  broker = await startBrokerWorker(ENTRY, { SLUICE_ENV: "development" }, { disposeWith });
  client = clientOf(await broker.ready, "any token");
  queues = client.queues;
}

/** After all of them. */
export async function stop(): Promise<void> {
  await dispose();
}

export function clientOf(url: URL, apiToken: string): Cloudflare {
  return new Cloudflare({ baseURL: `${url.origin}/__sluice/client/v4`, apiToken, maxRetries: 0 });
}

/** One packed message without a body, sent as a producer sends it. */
export async function sendOne(queue: string): Promise<unknown> {
  const namespace = await broker.getDurableObjectNamespace("SLUICE_QUEUES", "broker");
  const object = namespace.get(namespace.idFromName(queue)) as unknown as {
    send(queue: string, requests: readonly object[]): Promise<unknown>;
  };
  return object.send(queue, [{ packed: new Uint8Array(40) }]);
}

/** Every entry of a list, page by page as the SDK asks for them. */
export async function everything<T>(list: AsyncIterable<T>): Promise<T[]> {
  const entries: T[] = [];
  for await (const entry of list) entries.push(entry);
  return entries;
}

export async function created(name: string) {
  const queue = await queues.create({ account_id, queue_name: name });
  return queue.queue_id ?? "";
}

/** What the SDK throws, as far as clients look at it. */
export async function refusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Cloudflare.APIError)) throw error;
  const [first] = error.errors;
  return { name: error.constructor.name, status: error.status, code: first?.code, message: first?.message };
}
