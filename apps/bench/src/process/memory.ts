import { readdir, readFile } from "node:fs/promises";

/** What the kernel says of a process. */
export interface ProcessStatus {
  readonly name: string;
  readonly pid: number;
  readonly parent: number;
  readonly residentBytes: number;
}

/** Resident memory in bytes of this process's children with that name; `null` where there is no `/proc`. */
export async function residentBytes(name: string): Promise<number | null> {
  const statuses = await readStatuses();
  return statuses === null
    ? null
    : sum(statuses.filter((status) => status.name === name && status.parent === process.pid));
}

/**
 * Resident memory in bytes of a process and all that it has started, and those in turn; `null` where there is no
 * `/proc`. A page that several of them share counts in each.
 */
export async function residentBytesOfTree(root: number): Promise<number | null> {
  const statuses = await readStatuses();
  return statuses === null ? null : sum(treeOf(root, statuses));
}

/** A process and its descendants, in whatever order they are given. */
export function treeOf(root: number, statuses: readonly ProcessStatus[]): ProcessStatus[] {
  const tree = new Set([root]);
  for (const pid of tree) {
    for (const status of statuses) if (status.parent === pid) tree.add(status.pid);
  }
  return statuses.filter(({ pid }) => tree.has(pid));
}

async function readStatuses(): Promise<ProcessStatus[] | null> {
  const entries = await readdir("/proc").catch(() => null);
  if (entries === null) return null;
  const texts = await Promise.all(
    entries
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => readFile(`/proc/${entry}/status`, "utf8").catch(() => "")),
  );
  return texts.map(parseStatus).filter((status) => status !== null);
}

function sum(statuses: readonly ProcessStatus[]): number {
  return statuses.reduce((bytes, status) => bytes + status.residentBytes, 0);
}

/** `/proc/PID/status`; `null` for a process that is gone. */
export function parseStatus(text: string): ProcessStatus | null {
  const field = (key: string) => new RegExp(`^${key}:\\s*(\\S+)`, "m").exec(text)?.[1];
  const [name, pid, parent] = ["Name", "Pid", "PPid"].map(field);
  if (name === undefined || pid === undefined || parent === undefined) return null;
  const residentBytes = 1024 * Number(field("VmRSS") ?? 0);
  return { name, pid: Number(pid), parent: Number(parent), residentBytes };
}
