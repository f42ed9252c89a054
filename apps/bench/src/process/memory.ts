import { readdir, readFile } from "node:fs/promises";

/** Resident memory in bytes of this process's children with that name; `null` where there is no `/proc`. */
export async function residentBytes(name: string): Promise<number | null> {
  const entries = await readdir("/proc").catch(() => null);
  if (entries === null) return null;
  const statuses = await Promise.all(
    entries
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => readFile(`/proc/${entry}/status`, "utf8").catch(() => "")),
  );
  return statuses
    .map(parseStatus)
    .filter((status) => status?.name === name && status.parent === process.pid)
    .reduce((sum, status) => sum + (status?.residentBytes ?? 0), 0);
}

/** `/proc/PID/status`; `null` for a process that is gone. */
export function parseStatus(text: string): { name: string; parent: number; residentBytes: number } | null {
  const field = (key: string) => new RegExp(`^${key}:\\s*(\\S+)`, "m").exec(text)?.[1];
  const name = field("Name");
  const parent = field("PPid");
  if (name === undefined || parent === undefined) return null;
  return { name, parent: Number(parent), residentBytes: 1024 * Number(field("VmRSS") ?? 0) };
}
