import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Payload } from "../workload/payload.ts";
import type { ConnectPeer } from "./peer-client.ts";
import { JOB_TYPE, openPlainjob } from "./plainjob-library.ts";

/** @param isSynced whether every commit waits for the disk. */
export function connectPlainjob(isSynced: boolean): ConnectPeer {
  return async ({ packages, folder }, handled) => {
    const { queue } = openPlainjob(packages, folder, isSynced);
    const consumer = fork(
      fileURLToPath(new URL("./plainjob-consumer.ts", import.meta.url)),
      [packages, folder, isSynced ? "synced" : ""],
      { stdio: "inherit" },
    );
    await new Promise<void>((resolve, reject) => {
      consumer.once("message", () => resolve());
      consumer.once("exit", (code) => reject(new Error(`plainjob's worker ended with code ${code}`)));
    });
    consumer.on("message", (message) => {
      const pairs = message as (string | number)[];
      for (let i = 0; i < pairs.length; i += 2) handled.note(String(pairs[i]), Number(pairs[i + 1]));
    });
    // Its calls block: others get their turn in between only if we let them.
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const add = (job: Payload) => {
      queue.add(JOB_TYPE, job);
      return turn();
    };
    return {
      send: add,
      async sendHundred(payloads) {
        queue.addMany(JOB_TYPE, payloads);
        await turn();
      },
      async close() {
        const ended = new Promise((resolve) => consumer.once("exit", resolve));
        consumer.disconnect();
        await ended;
        queue.close();
      },
    };
  };
}
