import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Longest time in which the kernel ends a process that was killed, in ms. */
const GONE_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 2;

/** Process ids of a process's children that are workerd (Linux). */
export async function workerdChildren(parent: number): Promise<number[]> {
  const pids: number[] = [];
  for (const entry of await readdir("/proc")) {
    const stat = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "") : "";
    const [, name, state, ppid] = /^\d+ \((.*)\) (\S) (\d+)/.exec(stat) ?? [];
    if (name === "workerd" && state !== "Z" && Number(ppid) === parent) pids.push(Number(entry));
  }
  return pids;
}

/** Waits until killed processes are gone. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  const deadlineMs = Date.now() + GONE_WITHIN_MS;
  for (const pid of pids) {
    while (await isRunning(pid)) {
      if (Date.now() > deadlineMs) throw new Error(`process ${pid} survived kill -9`);
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

/** Whether a process runs; `false` for a zombie. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  return stat !== null && !/^\d+ \(.*\) Z/.test(stat);
}
