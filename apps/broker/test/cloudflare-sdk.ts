import Cloudflare from "cloudflare";
import { startSharedBroker } from "./any-broker.ts";

export const account_id = "any-account";
export const UNKNOWN_QUEUE = "f".repeat(32);
export const RETENTION = 345_600;

/** Topology and consumers of the broker. */
export const DEPLOYED = {
  queues: {
    orders: {
      deliveryDelaySeconds: 0,
      messageRetentionSeconds: 345_600,
      producers: [
        { worker: "shop", binding: "A" },
        { worker: "shop", binding: "B" },
      ],
      consumer: null,
    },
  },
  consumers: { mailer: "CONSUMER" },
};

export let origin: string;
export let client: Cloudflare;
export let queues: Cloudflare["queues"];

/** Starts the broker before all tests of a file. @returns the function that ends it after them. */
export async function start(): Promise<() => Promise<void>> {
  const broker = await startSharedBroker({ SLUICE_ENV: "development" }, DEPLOYED);
  origin = broker.origin;
  client = clientOf(origin, "any token");
  queues = client.queues;
  return broker.dispose;
}

export function clientOf(at: string, apiToken: string): Cloudflare {
  return new Cloudflare({ baseURL: `${at}/__sluice/client/v4`, apiToken, maxRetries: 0 });
}

/** Sends a message of one byte. */
export async function sendOne(queue_id: string): Promise<unknown> {
  return queues.messages.push(queue_id, { account_id, content_type: "text", body: "x" });
}

/** Collects every entry of a list, page by page as the SDK asks for them. */
export async function everything<T>(list: AsyncIterable<T>): Promise<T[]> {
  const entries: T[] = [];
  for await (const entry of list) entries.push(entry);
  return entries;
}

export async function created(name: string) {
  const queue = await queues.create({ account_id, queue_name: name });
  return queue.queue_id ?? "";
}

/** Returns the members that clients read of the error that the SDK throws for a call. */
export async function refusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => new Error("it was not refused"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Cloudflare.APIError)) throw error;
  const [first] = error.errors;
  return { name: error.constructor.name, status: error.status, code: first?.code, message: first?.message };
}
