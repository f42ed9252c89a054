import { createRequire } from "node:module";
import path from "node:path";
import type { Payload } from "../workload/payload.ts";
import { type ConnectPeer, preciseNow } from "./peer-client.ts";

/** Jobs at a time in one worker; more were not faster. */
const CONCURRENCY = 50;

/** Part of BullMQ that is used. */
interface BullMQ {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: Payload): Promise<unknown>;
    addBulk(jobs: readonly { name: string; data: Payload }[]): Promise<unknown>;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
  Worker: new (
    name: string,
    handle: (job: { data: Payload }) => Promise<void>,
    options: object,
  ) => { waitUntilReady(): Promise<unknown>; close(): Promise<void> };
}

export const connectBullMQ: ConnectPeer = async ({ port, packages }, handled) => {
  const { Queue, Worker } = createRequire(path.join(packages, "package.json"))("bullmq") as BullMQ;
  const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
  const queue = new Queue("bench", {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  const worker = new Worker(
    "bench",
    async ({ data }) => {
      handled.note(data.sentMs, preciseNow());
    },
    { connection, concurrency: CONCURRENCY },
  );
  await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
  return {
    send: (data) => queue.add("job", data),
    sendHundred: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "job", data }))),
    async close() {
      await worker.close();
      await queue.close();
    },
  };
};
