import { createRequire } from "node:module";
import path from "node:path";
import type { Payload } from "../workload/payload.ts";
import { type ConnectPeer, preciseNow } from "./peer-client.ts";

const QUEUE = "bench";
const CONNECTIONS = 20;
/** Shortest interval that pg-boss allows. */
const POLLING_SECONDS = 0.5;
/** Jobs per fetch; with `WORKERS` the fastest that was found on two cores. */
const BATCH_SIZE = 500;
const WORKERS = 1;

/** Part of pg-boss that is used. */
interface PgBossModule {
  PgBoss: new (
    options: object,
  ) => {
    on(event: "error", listener: (error: Error) => void): void;
    start(): Promise<unknown>;
    createQueue(name: string, options: object): Promise<unknown>;
    send(name: string, data: Payload): Promise<unknown>;
    insert(name: string, jobs: readonly { data: Payload }[]): Promise<unknown>;
    work(
      name: string,
      options: object,
      handle: (jobs: readonly { data: Payload }[]) => Promise<void>,
    ): Promise<unknown>;
    stop(options: object): Promise<unknown>;
  };
}

/**
 * Makes a client of pg-boss.
 *
 * @param isNotified whether NOTIFY wakes workers. Then they start at once, and sends are slower: PostgreSQL commits
 *   transactions that notify one after the other. Else workers poll every half second.
 */
export function connectPgBoss(isNotified: boolean): ConnectPeer {
  return async ({ port, packages }, handled) => {
    const { PgBoss } = createRequire(path.join(packages, "package.json"))("pg-boss") as PgBossModule;
    const boss = new PgBoss({
      connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
      max: CONNECTIONS,
      useListenNotify: isNotified,
    });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    await boss.createQueue(QUEUE, { notify: isNotified });
    await boss.work(
      QUEUE,
      {
        batchSize: BATCH_SIZE,
        localConcurrency: WORKERS,
        burstWhenBatchFull: true,
        pollingIntervalSeconds: POLLING_SECONDS,
        notifyPollingIntervalSeconds: POLLING_SECONDS,
      },
      async (jobs) => {
        const nowMs = preciseNow();
        for (const { data } of jobs) handled.note(data.sentMs, nowMs);
      },
    );
    return {
      send: (data) => boss.send(QUEUE, data),
      sendHundred: (payloads) =>
        boss.insert(
          QUEUE,
          payloads.map((data) => ({ data })),
        ),
      async close() {
        await boss.stop({ graceful: false });
      },
    };
  };
}
