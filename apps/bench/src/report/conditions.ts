import { open, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { cpus, loadavg, release, totalmem } from "node:os";
import path from "node:path";
import { median } from "../measure/statistics.ts";
import { removeFolder, temporaryFolder } from "../process/temporary-folder.ts";

/** Conditions of a measurement. */
export interface Conditions {
  readonly command: string;
  /** ISO 8601, to the minute. */
  readonly startedAt: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly wrangler: string;
  readonly workerd: string;
  /** Median time to write 4 KB to the disk of the systems' data and sync it, in µs. */
  readonly syncMicros: number;
  /** Load average of the minute before the measurement: 0 if the machine does nothing else. */
  readonly loadBefore: number;
  /** Load average of its last minute. */
  readonly loadAfter: number;
}

const SYNCS = 200;
const SYNC_BYTES = 4_096;

/** Reads the conditions before a measurement; the returned function completes them after it. */
export async function readConditions(command: string): Promise<() => Conditions> {
  const [loadBefore = 0] = loadavg();
  const before = {
    command,
    startedAt: `${new Date().toISOString().slice(0, 16)}Z`,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: await systemName(),
    node: process.version,
    wrangler: versionOf("wrangler", import.meta.url),
    // A dependency of Miniflare, not of this package.
    workerd: versionOf("workerd", createRequire(import.meta.url).resolve("miniflare")),
    syncMicros: await measureSync(),
    loadBefore,
  };
  return () => ({ ...before, loadAfter: loadavg()[0] ?? 0 });
}

/** Makes a list of the conditions in Markdown. */
export function conditionsList(conditions: Conditions): string {
  const { cpu, cores, memoryGb, system, node, wrangler, workerd, syncMicros } = conditions;
  return [
    `- command: \`${conditions.command}\`, started ${conditions.startedAt}`,
    `- machine: ${cores} cores of ${cpu}, ${memoryGb} GB of memory, ${system}`,
    `- Node ${node}, Wrangler ${wrangler}, workerd ${workerd}`,
    `- a write of 4 KB with a sync takes ${Math.round(syncMicros)} µs (median)`,
    `- load average before and after: ${conditions.loadBefore.toFixed(1)} and ${conditions.loadAfter.toFixed(1)}`,
  ].join("\n");
}

async function systemName(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  const name = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(text)?.[1];
  return name === undefined
    ? `${process.platform} ${release()}`
    : `${name}, kernel ${release().split("-")[0]}`;
}

function versionOf(name: string, from: string): string {
  return (createRequire(from)(`${name}/package.json`) as { version: string }).version;
}

async function measureSync(): Promise<number> {
  const folder = await temporaryFolder("sync");
  const file = await open(path.join(folder, "file"), "w");
  try {
    const block = Buffer.alloc(SYNC_BYTES);
    const micros: number[] = [];
    for (let i = 0; i < SYNCS; i++) {
      const startMs = performance.now();
      await file.write(block);
      await file.datasync();
      micros.push(1000 * (performance.now() - startMs));
    }
    return median(micros);
  } finally {
    await file.close();
    await removeFolder(folder);
  }
}
